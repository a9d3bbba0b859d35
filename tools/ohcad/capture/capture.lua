-- SPDX-License-Identifier: GPL-2.0
-- For Wireshark and tshark, with captures whose packets are cut ("snaplen"):
--
--   tshark -X lua_script:tools/ohcad/capture/capture.lua -r FILE
--
-- Wireshark's dissector of InfiniBand dissects the headers of such a packet, and then calls it malformed in the list of
-- packets, as its payload is not all there. This says there what it is. Other packets are as they were.
-- Wireshark runs no such scripts for root.

local length, captured = Field.new("frame.len"), Field.new("frame.cap_len")
local opcode, qp = Field.new("infiniband.bth.opcode"), Field.new("infiniband.bth.destqp")
local cut = Proto("ohca_cut", "Packet cut by snaplen")

function cut.dissector(tvb, pinfo, tree)
	local op = opcode()

	if not op or captured().value == length().value then
		return
	end
	pinfo.cols.info:clear_fence()
	-- "Reliable Connection (RC) - SEND Only (4)"
	local name = op.display:gsub("^.*%((%u+)%) %- ", "%1 "):gsub(" %(%d+%)$", "")
	pinfo.cols.info:set(string.format("%s QP=0x%06x [Packet size limited during capture]", name, qp().value))
end

register_postdissector(cut)
