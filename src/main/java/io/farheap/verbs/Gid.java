package io.farheap.verbs;

/**
 * The GID by which a port is addressed, and its place in the port's table.
 */
record Gid(int index, byte[] bytes) {

    private static final int ROCE_V2 = 2;

    /**
     * On Ethernet a RoCEv2 entry with an IPv4-mapped address where there is one, since it routes; else any RoCEv2 entry, else
     * entry 0. On InfiniBand entry 0, which every port has.
     */
    static Gid choose(Context context, PortInfo port) {
        Gid best = new Gid(0, orZero(context.gid(port.number(), 0)));
        if (!port.ethernet()) {
            return best;
        }
        int bestRank = -1;
        for (int index = 0; index < port.gidEntries(); index++) {
            byte[] bytes = context.gid(port.number(), index);
            if (bytes == null) {
                continue;
            }
            int rank = (context.gidType(port.number(), index) == ROCE_V2 ? 2 : 0) + (isIpv4Mapped(bytes) ? 1 : 0);
            if (rank > bestRank) {
                bestRank = rank;
                best = new Gid(index, bytes);
            }
        }
        return best;
    }

    private static byte[] orZero(byte[] bytes) {
        return bytes == null ? new byte[Endpoint.GID_BYTES] : bytes;
    }

    private static boolean isIpv4Mapped(byte[] gid) {
        for (int i = 0; i < 10; i++) {
            if (gid[i] != 0) {
                return false;
            }
        }
        return gid[10] == (byte) 0xFF && gid[11] == (byte) 0xFF;
    }
}
