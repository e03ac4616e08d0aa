package io.farheap.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.CutFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedFaultsTest {

    private static final int BYTES = 512;
    /** After this number of calls a method is compiled, by the optimising compiler if the JVM has one. */
    private static final int CALLS = 50_000;

    private static boolean copies(MemorySegment from, MemorySegment to) {
        try {
            MemorySegment.copy(from, 0, to, 0, BYTES);
            MappedFaults.raise(from);
            MappedFaults.raise(to);
            return true;
        } catch (InternalError e) {
            return false;
        }
    }

    private static int copied(int times, MemorySegment from, MemorySegment to) {
        int copied = 0;
        for (int i = 0; i < times; i++) {
            copied += copies(from, to) ? 1 : 0;
        }
        return copied;
    }

    @Test
    void aFaultOfACutFileIsCaughtWhereTheCopyIs(@TempDir Path directory) throws IOException {
        try (CutFile file = new CutFile(directory, BYTES)) {
            MemorySegment mapped = file.segment();
            MemorySegment memory = MemorySegment.ofArray(new byte[BYTES]);
            assertEquals(CALLS, copied(CALLS, mapped, memory));
            assertEquals(CALLS, copied(CALLS, memory, mapped));
            file.cut();
            assertEquals(0, copied(100, mapped, memory));
            assertEquals(0, copied(100, memory, mapped));
        }
    }
}
