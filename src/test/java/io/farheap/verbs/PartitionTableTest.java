package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A partition key is found in the port's table wherever the subnet manager has put it. */
class PartitionTableTest {

    private static final String PORT = "port 1 of mlx5_0";

    @Test
    void aKeyIsFoundByItsNumber(@TempDir Path port) throws IOException {
        Path keys = Files.createDirectories(port.resolve("pkeys"));
        String[] table = {"0xffff", "0x0000", "0x0005", "0x8001", "0x8005", "0x0007"};
        for (int i = 0; i < table.length; i++) {
            Files.writeString(keys.resolve(Integer.toString(i)), table[i] + "\n");
        }
        assertEquals(0, PartitionTable.index(port, PORT, 0xFFFF));
        assertEquals(3, PartitionTable.index(port, PORT, 0x8001));
        assertEquals(4, PartitionTable.index(port, PORT, 0x8005), "as it is");
        assertEquals(2, PartitionTable.index(port, PORT, 0x0005), "as it is");
        assertEquals(5, PartitionTable.index(port, PORT, 0x8007), "with the other membership");
        assertEquals(
                "partition key 0x8009 is not in the table of port 1 of mlx5_0, which has 0xffff, 0x0005, 0x8001, 0x8005, "
                        + "0x0007; choose one of these, or let the subnet manager add the port to the partition",
                assertThrows(VerbsException.class, () -> PartitionTable.index(port, PORT, 0x8009))
                        .getMessage());
    }

    @Test
    void aDeviceOfALibraryAloneHasTheDefault(@TempDir Path port) {
        assertEquals(0, PartitionTable.index(port, PORT, PartitionTable.DEFAULT_KEY));
        assertEquals(0, PartitionTable.index(port, PORT, 0x7FFF));
        assertThrows(VerbsException.class, () -> PartitionTable.index(port, PORT, 0x8001));
    }
}
