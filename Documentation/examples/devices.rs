// SPDX-License-Identifier: GPL-2.0
// Lists the RDMA devices, by libibverbs.  See Documentation/ci.rst.

use std::ffi::{c_char, c_int, c_void, CStr};

extern "C" {
    fn ibv_get_device_list(num: *mut c_int) -> *mut *mut c_void;
    fn ibv_get_device_name(device: *mut c_void) -> *const c_char;
    fn ibv_free_device_list(list: *mut *mut c_void);
}

/// The program: linked as "main" with the C library's start.
#[no_mangle]
pub extern "C" fn main() -> c_int {
    let mut num = 0;
    // SAFETY: the list has num devices, whose names are strings, until it is freed.
    unsafe {
        let list = ibv_get_device_list(&mut num);
        if list.is_null() {
            return 1;
        }
        for i in 0..num as usize {
            let name = CStr::from_ptr(ibv_get_device_name(*list.add(i)));
            println!("{}", name.to_string_lossy());
        }
        ibv_free_device_list(list);
    }
    c_int::from(num == 0)
}
