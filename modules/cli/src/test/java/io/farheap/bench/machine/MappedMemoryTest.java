package io.farheap.bench.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a tree in a mapped file has in memory is counted, since nothing bounds it. */
class MappedMemoryTest {

    private static final int PAGE = 4096;

    @TempDir
    private Path directory;

    @Test
    void allMappingsOfAFileCountAndNoOthers() {
        List<String> smaps = List.of(
                "7f00a000-7f00b000 rw-s 00000000 fe:01 42   /data/data.mdb",
                "Size:                  8 kB",
                "Rss:                   4 kB",
                "7f00b000-7f00c000 rw-p 00000000 00:00 0",
                "Rss:                  64 kB",
                "VmFlags: rd wr mr-mw",
                "7f00c000-7f00d000 r--s 00001000 fe:01 42   /data/data.mdb",
                "Rss:                  16 kB");
        assertEquals(20 << 10, MappedMemory.residentBytes(smaps, Path.of("/data/data.mdb")));
        assertEquals(0, MappedMemory.residentBytes(smaps, Path.of("/data/lock.mdb")));
    }

    @Test
    void aFileIsInMemoryOnceItWasRead() throws IOException {
        Path file = Files.write(directory.resolve("mapped"), new byte[64 * PAGE]);
        assertEquals(0, MappedMemory.residentBytes(file));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            byte sum = 0;
            for (long at = 0; at < mapped.byteSize(); at += PAGE) {
                sum += mapped.get(ValueLayout.JAVA_BYTE, at);
            }
            assertEquals(0, sum);
            long resident = MappedMemory.residentBytes(file);
            assertTrue(resident == 64 * PAGE, () -> "" + resident);
        }
    }
}
