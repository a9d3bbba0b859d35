// SPDX-License-Identifier: GPL-2.0
/*
 * In the programs wire/, time passes in rounds of the device only: however long they wait for a processor, no timer of
 * a queue pair expires while packets are on the wire.
 */

#include "inproc_clock.h"

__attribute__((constructor)) static void start(void)
{
	inproc_clock_start();
}
