package io.farheap.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** For how long tasks wait for memory, read from the kernel's files. */
class MemoryStallsTest {

    private static final String FULL = "full avg10=7.00 avg60=1.00 avg300=0.10 total=1\n";
    private static final String MACHINE = "proc/pressure/memory";
    private static final String GROUP = "sys/fs/cgroup/farheap.service/memory.pressure";

    @TempDir
    private Path root;

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private static String some(String average) {
        return "some avg10=" + average + " avg60=3.00 avg300=1.00 total=12345\n" + FULL;
    }

    private void inGroup() throws IOException {
        write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write("proc/self/cgroup", "0::/farheap.service\n");
    }

    /** What is said while a reader of the files is made. */
    private List<String> said() {
        List<String> said = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                said.add(record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(MemoryStalls.class.getName());
        logger.addHandler(handler);
        try {
            assertEquals(0, new MemoryStalls(root).most());
        } finally {
            logger.removeHandler(handler);
        }
        return said;
    }

    @Test
    void theMoreStalledOfTheMachineAndTheGroupCounts() throws IOException {
        write(MACHINE, some("12.50"));
        assertEquals(12.5, new MemoryStalls(root).most());
        inGroup();
        write(GROUP, some("33.07"));
        MemoryStalls both = new MemoryStalls(root);
        assertEquals(33.07, both.most());
        write(GROUP, some("0.00"));
        assertEquals(12.5, both.most());
    }

    @Test
    void onlyTheGroupMayHaveIt() throws IOException {
        inGroup();
        write(GROUP, some("1.25"));
        assertEquals(1.25, new MemoryStalls(root).most());
    }

    @Test
    void aKernelWithoutItIsSaidOnceAndStallsNobody() throws IOException {
        List<String> said = said();
        assertEquals(1, said.size());
        assertTrue(said.getFirst().contains("cannot be read: NoSuchFileException"), said::toString);
        for (String wrong : List.of("", "some\n", "some avg10=\n", "some avg10=x\n", some("-1"), some("1e3"), FULL)) {
            write(MACHINE, wrong);
            said = said();
            assertEquals(1, said.size(), wrong);
            assertTrue(said.getFirst().contains("has no line that begins with \"some avg10=\""), said::toString);
        }
    }

    @Test
    void aFileThatGoesOrTurnsWrongLaterCountsAsNothing() throws IOException {
        write(MACHINE, some("50.00"));
        MemoryStalls stalls = new MemoryStalls(root);
        assertEquals(50, stalls.most());
        write(MACHINE, "some avg10=NaN\n");
        assertEquals(0, stalls.most());
        Files.delete(root.resolve(MACHINE));
        assertEquals(0, stalls.most());
    }
}
