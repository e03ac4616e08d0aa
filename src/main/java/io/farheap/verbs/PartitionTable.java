package io.farheap.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A port's table of partition keys, which an InfiniBand subnet manager fills. */
final class PartitionTable {

    /** The partition that every port is in. */
    static final int DEFAULT_KEY = 0xFFFF;

    /** The lower bits of a key are the partition's number; the highest one says that the port is a full member. */
    private static final int NUMBER = 0x7FFF;
    /** The longest table that a port's attributes can report. */
    private static final int MAX_ENTRIES = 1 << 16;

    private PartitionTable() {}

    /**
     * The index of a partition key; a key that differs in the membership alone is the second choice.
     *
     * @param directory the port's directory in sysfs, which a device of a library alone does not have: it has the
     *     default partition
     * @param port the port's name in messages, such as {@code port 1 of mlx5_0}
     * @throws VerbsException if the port is not in that partition
     */
    static int index(Path directory, String port, int key) {
        List<Integer> keys = keys(directory.resolve("pkeys"));
        int index = keys.indexOf(key);
        for (int i = 0; index < 0 && i < keys.size(); i++) {
            if ((keys.get(i) & NUMBER) == (key & NUMBER)) {
                index = i;
            }
        }
        if (index < 0) {
            throw VerbsException.ofAddress("partition key " + text(key) + " is not in the table of " + port
                    + ", which has "
                    + keys.stream()
                            .filter(other -> other != 0)
                            .map(PartitionTable::text)
                            .collect(Collectors.joining(", "))
                    + "; choose one of these, or let the subnet manager add the port to the partition");
        }
        return index;
    }

    /** The keys, by their index; an empty entry is 0. */
    private static List<Integer> keys(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of(DEFAULT_KEY);
        }
        List<Integer> keys = new ArrayList<>();
        while (keys.size() < MAX_ENTRIES) {
            try {
                keys.add(Integer.decode(Files.readString(directory.resolve(Integer.toString(keys.size())))
                        .strip()));
            } catch (IOException | NumberFormatException e) {
                // The table ends with the last file.
                break;
            }
        }
        return List.copyOf(keys);
    }

    private static String text(int key) {
        return String.format(Locale.ROOT, "0x%04x", key);
    }
}
