package io.farheap.verbs;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** GID tables for tests, written as {@code show_gids} prints them. */
final class GidEntries {

    private GidEntries() {}

    /**
     * A table of lines {@code INDEX ADDRESS[/BITS] v1|v2 [INTERFACE [elsewhere] [stacked]]}; the interface may be
     * missing.
     */
    static List<GidEntry> table(String lines) {
        List<GidEntry> entries = new ArrayList<>();
        lines.lines().filter(line -> !line.isBlank()).forEach(line -> entries.add(entry(line)));
        return entries;
    }

    private static GidEntry entry(String line) {
        List<String> words = Arrays.asList(line.strip().split(" +"));
        String[] address = words.get(1).split("/");
        int bits = address.length == 1 ? 0 : Integer.parseInt(address[1]);
        byte[] gid = gid(address[0]);
        boolean ipv4 = address[0].contains(".");
        return new GidEntry(
                Integer.parseInt(words.get(0)),
                words.get(2).equals("v2") ? GidEntry.ROCE_V2 : GidEntry.ROCE_V1,
                bits == 0 || !ipv4 ? bits : 96 + bits,
                words.size() > 3 ? words.get(3) : "",
                gid,
                words.contains("elsewhere"),
                words.contains("stacked"));
    }

    /** The GID of an IPv4 or IPv6 address. */
    static byte[] gid(String address) {
        byte[] bytes = InetAddress.ofLiteral(address).getAddress();
        if (bytes.length == 16) {
            return bytes;
        }
        return HexFormat.of()
                .parseHex("00000000000000000000ffff" + HexFormat.of().formatHex(bytes));
    }

    /** The entries as a port of Ethernet offers them to its peers. */
    static List<GidEntry> candidates(String lines) {
        return new GidTable("port 1 of mlx5_0", true, table(lines)).candidates("");
    }

    /** The endpoint of a queue pair that may be addressed by these entries and is not connected. */
    static Endpoint endpoint(List<GidEntry> entries) {
        return endpoint(entries.getFirst().bytes(), GidEntry.encode(entries), new byte[0]);
    }

    /** The endpoint of a queue pair that has been connected by this pair, of which the first entry is its own. */
    static Endpoint endpoint(List<GidEntry> entries, GidPair pair) {
        return endpoint(pair.own().bytes(), GidEntry.encode(entries), GidEntry.encode(List.of(pair.peer())));
    }

    static Endpoint endpoint(byte[] gid, byte[] gids, byte[] peerGid) {
        return new Endpoint(5, 0, 0, gid, 5, 1, 1, 0, 0, gids, peerGid);
    }
}
