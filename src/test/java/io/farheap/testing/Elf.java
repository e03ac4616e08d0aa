package io.farheap.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Reads the headers of a shared library of 64 bits, little-endian. */
public final class Elf {

    /** In the order of versions: 2.9 is before 2.27. */
    public static final Comparator<String> VERSIONS = Comparator.comparing(Elf::parts, Arrays::compare);

    private static final int VERSIONS_NEEDED = 0x6ffffffe;
    private static final String GLIBC = "GLIBC_";

    private Elf() {}

    private static int[] parts(String version) {
        return Stream.of(version.split("\\.")).mapToInt(Integer::parseInt).toArray();
    }

    /** The versions of glibc's symbols that it needs, such as 2.2.5, oldest first. */
    public static SortedSet<String> glibcVersions(byte[] library) {
        SortedSet<String> versions = new TreeSet<>(VERSIONS);
        ByteBuffer elf = ByteBuffer.wrap(library).order(ByteOrder.LITTLE_ENDIAN);
        int sections = (int) elf.getLong(40);
        int entryBytes = elf.getShort(58);
        for (int i = 0; i < elf.getShort(60); i++) {
            int header = sections + i * entryBytes;
            if (elf.getInt(header + 4) == VERSIONS_NEEDED) {
                int names = (int) elf.getLong(sections + elf.getInt(header + 40) * entryBytes + 24);
                collect(elf, (int) elf.getLong(header + 24), names, versions);
            }
        }
        return versions;
    }

    private static void collect(ByteBuffer elf, int first, int names, SortedSet<String> versions) {
        int next;
        for (int file = first; ; file += next) {
            int version = file + elf.getInt(file + 8);
            for (int i = 0; i < elf.getShort(file + 2); i++) {
                String name = string(elf, names + elf.getInt(version + 8));
                if (name.startsWith(GLIBC)) {
                    versions.add(name.substring(GLIBC.length()));
                }
                version += elf.getInt(version + 12);
            }
            next = elf.getInt(file + 12);
            if (next == 0) {
                return;
            }
        }
    }

    private static String string(ByteBuffer elf, int at) {
        int end = at;
        while (elf.get(end) != 0) {
            end++;
        }
        byte[] text = new byte[end - at];
        elf.get(at, text);
        return new String(text, StandardCharsets.US_ASCII);
    }
}
