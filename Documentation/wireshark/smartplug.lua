-- Wireshark: the frames of the smart plug protocol, once TLS is decrypted.
--
--   SSLKEYLOGFILE=keys.log plugctl watch Lamp        (in one terminal, while capturing in another)
--   tshark -r lamp.pcapng -o tls.keylog_file:keys.log -X lua_script:smartplug.lua \
--       -o "uat:protobuf_search_paths:\"FOLDER OF smartplug.proto\",\"TRUE\"" -V
-- TLS names the protocol by its ALPN id, "smartplug/1". Each frame is a length of four bytes, big endian, and a message, which
-- Wireshark's own protobuf dissector decodes.

local smartplug = Proto("smartplug", "Smart Plug Protocol")
local length_field = ProtoField.uint32("smartplug.length", "Length")
local sender_field = ProtoField.string("smartplug.sender", "Sender")
smartplug.fields = { length_field, sender_field }

local head = 4
local longest = 65536
local protobuf = Dissector.get("protobuf")
local stream_of = Field.new("tcp.stream")

-- The controller's port for each TCP stream. The controller sends the first frame.
local controller_ports = {}

function smartplug.init()
    controller_ports = {}
end

local function sender(pinfo)
    local stream = stream_of().value
    controller_ports[stream] = controller_ports[stream] or pinfo.src_port
    return pinfo.src_port == controller_ports[stream] and "controller" or "plug"
end

local function frame_length(buffer, _, offset)
    local length = buffer(offset, head):uint()
    -- A longer frame ends the connection, so the bytes after it are not decoded.
    return head + math.min(length, longest)
end

local function dissect_frame(buffer, pinfo, tree)
    local who = sender(pinfo)
    local message = who == "controller" and "smartplug.v1.ControllerMessage" or "smartplug.v1.PlugMessage"
    local frame = tree:add(smartplug, buffer())
    frame:add(length_field, buffer(0, head))
    frame:add(sender_field, who):set_generated()
    pinfo.cols.protocol = "smartplug"
    pinfo.private["pb_msg_type"] = "message," .. message
    protobuf:call(buffer(head):tvb(), pinfo, frame)
    return buffer:len()
end

function smartplug.dissector(buffer, pinfo, tree)
    dissect_tcp_pdus(buffer, tree, head, frame_length, dissect_frame)
    return buffer:len()
end

DissectorTable.get("tls.alpn"):add("smartplug/1", smartplug)
