package io.farheap.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.posix.Errno;
import io.farheap.posix.PosixException;
import io.farheap.testing.RefusedCalls;
import io.farheap.testing.RefusedCalls.Call;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class SharedMemoryTest {

    @Test
    void isZeroedPageAlignedAndOfWholePages() {
        try (SharedMemory memory = SharedMemory.allocate("test-arena", 5000)) {
            assertEquals(8192, memory.bytes());
            assertEquals(0, memory.segment().address() % SharedMemory.PAGE_BYTES);
            for (long i = 0; i < memory.bytes(); i += 8) {
                assertEquals(0, memory.segment().get(JAVA_LONG, i));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> memory.segment().get(JAVA_BYTE, 8192));
        }
    }

    @Test
    void isMappedSharedAndItsFileCannotShrink() throws IOException {
        String name = "test-sealed-" + System.nanoTime();
        try (SharedMemory memory = SharedMemory.allocate(name, 4096)) {
            List<String> mappings = mappings(name);
            assertEquals(1, mappings.size());
            assertTrue(mappings.getFirst().contains(" rw-s "), mappings.getFirst());
            try (SeekableByteChannel file =
                    Files.newByteChannel(descriptors(name).getFirst(), StandardOpenOption.WRITE)) {
                assertThrows(IOException.class, () -> file.truncate(0));
            }
        }
        assertEquals(List.of(), mappings(name));
        assertEquals(List.of(), descriptors(name));
    }

    @Test
    void refusesUseAfterClose() {
        SharedMemory memory = SharedMemory.allocate("test-closed", 4096);
        memory.close();
        memory.close();
        assertThrows(IllegalStateException.class, () -> memory.segment().get(JAVA_LONG, 0));
    }

    @Test
    void refusesImpossibleSizes() {
        assertThrows(IllegalArgumentException.class, () -> SharedMemory.allocate("test", 0));
        assertThrows(IllegalArgumentException.class, () -> SharedMemory.allocate("test", -1));
        assertThrows(IllegalArgumentException.class, () -> SharedMemory.allocate("test-too-large", Long.MAX_VALUE / 2));
    }

    @Test
    void aPartIsGivenBackAndTakenAgain() {
        try (SharedMemory memory = SharedMemory.allocate("test-part", 4 * SharedMemory.PAGE_BYTES)) {
            giveBackAndTake(memory);
            assertTrue(assertThrows(IllegalArgumentException.class, () -> memory.discard(0, 512))
                    .getMessage()
                    .contains("512 bytes at 0 of memory in pages of 4096 bytes"));
            assertThrows(IllegalArgumentException.class, () -> memory.populate(512, 4096));
            assertThrows(IndexOutOfBoundsException.class, () -> memory.discard(0, 5 * SharedMemory.PAGE_BYTES));
        }
    }

    private static void giveBackAndTake(SharedMemory memory) {
        long page = memory.pageBytes();
        memory.segment().fill((byte) 1);
        memory.discard(page, 2 * page);
        memory.populate(page, 2 * page);
        for (int i = 0; i < 4; i++) {
            assertEquals(i == 0 || i == 3 ? 1 : 0, memory.segment().get(JAVA_BYTE, i * page), "page " + i);
        }
        memory.segment().fill((byte) 2);
    }

    @Test
    void aPartThatIsNotThereIsAnError() throws Exception {
        try (SharedMemory memory = SharedMemory.allocate("test-part", 4 * SharedMemory.PAGE_BYTES)) {
            memory.discard(0, memory.bytes());
            List<Call> noMemory = List.of(Call.populate(Errno.ENOMEM));
            assertEquals(Errno.ENOMEM, errno(noMemory, () -> memory.populate(0, memory.bytes())));
            List<Call> noMemoryEarlier = List.of(RefusedCalls.NO_POPULATE, Call.takePages(Errno.ENOSPC));
            assertEquals(Errno.ENOSPC, errno(noMemoryEarlier, () -> memory.populate(0, memory.bytes())));
            giveBackAndTake(memory);
        }
    }

    /**
     * Without MADV_POPULATE_WRITE the memory is taken with fallocate, since a mapping alone does not prove that the
     * kernel has its pages, for example under a limit on huge pages. If fallocate fails, nothing is left behind.
     */
    @Test
    void olderKernelsProveTheirPages() throws Exception {
        RefusedCalls.during(List.of(RefusedCalls.NO_POPULATE), () -> {
            try (SharedMemory memory = SharedMemory.allocate("test-older", 4 * SharedMemory.PAGE_BYTES)) {
                giveBackAndTake(memory);
            }
            return 0;
        });
        String name = "test-none-" + System.nanoTime();
        List<Call> none = List.of(RefusedCalls.NO_POPULATE, Call.takePages(Errno.ENOSPC));
        assertEquals(Errno.ENOSPC, errno(none, () -> SharedMemory.allocate(name, 4096)));
        assertEquals(List.of(), mappings(name));
        assertEquals(List.of(), descriptors(name));
    }

    private static int errno(List<Call> refused, Executable action) throws Exception {
        return RefusedCalls.during(
                refused, () -> assertThrows(PosixException.class, action).errno());
    }

    private static List<String> mappings(String name) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(name)).toList();
        }
    }

    private static List<Path> descriptors(String name) throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(fd -> target(fd).contains(name)).toList();
        }
    }

    private static String target(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (IOException e) {
            return "";
        }
    }
}
