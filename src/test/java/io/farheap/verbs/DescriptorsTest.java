package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.memory.SharedMemory;
import io.farheap.posix.Errno;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.SoftJvm;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The file descriptors that the software device uses, and its messages if none is left. */
@Needs(Need.SOFTVERBS)
class DescriptorsTest {

    private static final int LIMIT = 512;

    /** Registers memory with all descriptors taken, and again with all of them back, and prints what happens. */
    static final class Registrar {
        private Registrar() {}

        public static void main(String[] arguments) throws IOException {
            List<FileInputStream> taken = new ArrayList<>();
            try (Context context = Devices.open();
                    ProtectionDomain domain = context.allocateProtectionDomain();
                    SharedMemory memory = SharedMemory.allocate("test-short", SharedMemory.PAGE_BYTES)) {
                // Loads the classes of a refusal now, because loading needs descriptors, too.
                String refusal = new VerbsException("loaded", Errno.EMFILE).getMessage();
                try {
                    while (true) {
                        taken.add(new FileInputStream("/dev/null"));
                    }
                } catch (FileNotFoundException e) {
                    // All descriptors are taken.
                }
                try (MemoryRegion region = domain.register(memory.segment(), Access.LOCAL_WRITE)) {
                    refusal = "none: it has " + region.bytes() + " bytes";
                } catch (VerbsException e) {
                    refusal = e.getMessage();
                }
                for (FileInputStream file : taken) {
                    file.close();
                }
                System.out.println(refusal);
                try (MemoryRegion region = domain.register(memory.segment(), Access.LOCAL_WRITE)) {
                    System.out.println("later " + region.bytes());
                }
            }
        }
    }

    @Test
    void aRegistrationWithoutADescriptorSaysTheLimitAndTheRemedy() throws Exception {
        SoftJvm ended =
                SoftJvm.run(List.of("bash", "-c", "ulimit -n " + LIMIT + "; exec \"$@\"", "bash"), Registrar.class);
        assertEquals(0, ended.status(), ended.output());
        assertEquals(
                List.of(
                        "cannot register 4096 bytes on soft0, which needs a descriptor for each arena and two more for a moment;"
                                + " all 512 that this process may have are in use: EMFILE (too many open files: raise `ulimit -n`)",
                        "later 4096"),
                ended.output()
                        .lines()
                        .filter(line -> !line.startsWith("WARNING"))
                        .toList());
    }

    @Test
    void theRegionsOfAnArenaShareADescriptor() throws IOException {
        String name = "test-descriptors-" + System.nanoTime();
        int regions = 8;
        try (Context context = Devices.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                SharedMemory memory = SharedMemory.allocate(name, regions * SharedMemory.PAGE_BYTES)) {
            assertEquals(1, descriptors(name));
            List<MemoryRegion> registered = new ArrayList<>();
            for (int i = 0; i < regions; i++) {
                registered.add(domain.register(
                        memory.segment().asSlice(i * SharedMemory.PAGE_BYTES, SharedMemory.PAGE_BYTES),
                        Access.LOCAL_WRITE));
            }
            assertEquals(2, descriptors(name));
            for (MemoryRegion region : registered) {
                region.close();
            }
            assertEquals(1, descriptors(name));
        }
    }

    private static long descriptors(String name) throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(fd -> target(fd).contains(name)).count();
        }
    }

    private static String target(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (IOException e) {
            // Another thread has closed it.
            return "";
        }
    }
}
