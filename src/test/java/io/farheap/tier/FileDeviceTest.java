package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.posix.DirectFile;
import io.farheap.posix.Errno;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.FileOptions.Engine;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.Storage;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.device.StoredFile;
import io.farheap.tier.file.UringEngine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@Needs(Need.HOST)
@ParameterizedClass(name = "{0}")
@EnumSource(
        value = Engine.class,
        names = {"IO_URING", "THREADS", "POLLER"})
@Tag("optimised")
class FileDeviceTest extends DeviceContract {

    @Parameter
    private Engine engine;

    @TempDir
    private Path directory;

    private long descriptors;

    @Override
    Device create() {
        assumeTrue(engine != Engine.IO_URING || UringEngine.allowed(), "no io_uring here");
        descriptors = descriptors();
        return reopen();
    }

    private FileDevice reopen() {
        return FileDevice.open(
                directory,
                SEGMENT,
                FileOptions.DEFAULT.with(engine).withThreads(3).withRequests(32));
    }

    @Override
    void end() {
        assertEquals(descriptors, descriptors(), "open files");
    }

    /** @return how many descriptors of files in this test's directory and of io_urings are open */
    private long descriptors() {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(fd -> {
                        try {
                            String target = Files.readSymbolicLink(fd).toString();
                            return target.startsWith(directory.toString()) || target.contains("io_uring");
                        } catch (IOException e) {
                            return false;
                        }
                    })
                    .count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private void reopened(Runnable check) {
        handle.close();
        memory.close();
        device.close();
        device = reopen();
        memory = device.register(bytes);
        handle = device.open();
        check.run();
    }

    @Override
    int operations() {
        return 300;
    }

    @Test
    void aLogIsThereAgain() {
        for (long address = 0; address < 3 * SEGMENT; address += SEGMENT) {
            append(address, SEGMENT);
        }
        append(3 * SEGMENT, 4096);
        reopened(() -> {
            assertEquals(0, device.begin());
            assertEquals(3 * SEGMENT + 4096, device.end());
            assertReads(SEGMENT, SEGMENT);
            assertReads(3 * SEGMENT, 4096);
            append(3 * SEGMENT + 4096, 4096);
            device.truncate(SEGMENT + 4096);
        });
        reopened(() -> {
            assertEquals(SEGMENT, device.begin());
            assertEquals(3 * SEGMENT + 8192, device.end());
            assertReads(3 * SEGMENT + 4096, 4096);
        });
    }

    @Test
    void truncateDeletesFilesButTheLast() throws IOException {
        for (long address = 0; address < 3 * SEGMENT; address += SEGMENT) {
            append(address, SEGMENT);
        }
        device.truncate(2 * SEGMENT - 4096);
        assertEquals(List.of("device", "lock", "segment-0000000000000001", "segment-0000000000000002"), files());
        device.truncate(3 * SEGMENT);
        assertEquals(List.of("device", "lock", "segment-0000000000000002"), files());
        append(3 * SEGMENT, 4096);
        reopened(() -> assertEquals(3 * SEGMENT + 4096, device.end()));
    }

    @Test
    void aReadUnderWayOutlivesItsFile() {
        append(0, SEGMENT);
        append(SEGMENT, SEGMENT);
        Calls reads = new Calls();
        List<DeviceHandle> idle = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DeviceHandle other = device.open();
            idle.add(other);
            assertTrue(other.read(0, memory, 0, SEGMENT, reads, i));
        }
        device.truncate(SEGMENT);
        for (DeviceHandle other : idle) {
            Calls.finish(other);
            other.close();
        }
        for (int i = 0; i < 8; i++) {
            assertEquals(IoStatus.GONE, reads.status(i));
        }
    }

    @Test
    void aLogBeginsAnywhereAndHasNoGaps() throws IOException {
        append(5 * SEGMENT, 4096);
        append(7 * SEGMENT, 4096);
        assertEquals(
                List.of(
                        "device",
                        "lock",
                        "segment-0000000000000005",
                        "segment-0000000000000006",
                        "segment-0000000000000007"),
                files());
        append(4 * SEGMENT, 4096);
        reopened(() -> {
            assertEquals(4 * SEGMENT, device.begin());
            assertReads(7 * SEGMENT, 4096);
        });
    }

    @Test
    void anAppendFarBehindTheEndFails() throws IOException {
        append(0, 4096);
        Calls far = new Calls();
        assertTrue(handle.append(Device.MAX_ADDRESS - SEGMENT, memory, 0, 4096, far, 1));
        Calls.finish(handle);
        assertEquals(IoStatus.FAILED, far.status(1));
        assertEquals(1, ((FileDevice) device).failures());
        String why = ((FileDevice) device).refusal();
        assertTrue(why.contains("append to a log at its end"), why);
        assertEquals(List.of("device", "lock", "segment-0000000000000000"), files());
    }

    @Test
    void nameSaysWhoReadsAndWrites() {
        String expected =
                switch (engine) {
                    case IO_URING -> "file, io_uring";
                    case THREADS -> "file, 3 threads";
                    default -> "file, poller";
                };
        assertTrue(device.name().startsWith(expected), device.name());
    }

    /**
     * Opens the device again on files whose calls can fail.
     *
     * @param errors the errors with which the next calls fail, one for each call
     * @param descriptor the descriptor that the files return instead of their own; their own if it is negative
     */
    private void reopenFailing(Deque<Integer> errors, AtomicInteger descriptor) throws IOException {
        handle.close();
        memory.close();
        device.close();
        device = FileDevice.open(
                new BusyStorage(DiskStorage.open(directory), errors, descriptor),
                SEGMENT,
                FileOptions.DEFAULT.with(engine).withThreads(3).withRequests(32));
        memory = device.register(bytes);
        handle = device.open();
    }

    private int sync() {
        Calls sync = new Calls();
        assertTrue(handle.sync(sync, 1));
        Calls.finish(handle);
        return sync.status(1);
    }

    /**
     * The kernel reports a lost write only once: the next sync of that file succeeds. The test injects one error for
     * the engines that call {@code sync} themselves. For io_uring, which syncs by descriptor, it substitutes the
     * descriptor of {@code /dev/full}, whose sync always fails.
     */
    @Test
    void afterASyncThatHasFailedNoneOfThatFileIsBelieved() throws IOException {
        Deque<Integer> errors = new ConcurrentLinkedDeque<>();
        AtomicInteger descriptor = new AtomicInteger(-1);
        reopenFailing(errors, descriptor);
        append(0, 4096);
        assertEquals(IoStatus.OK, sync());
        append(4096, 4096);
        DirectFile full = DirectFile.open(Path.of("/dev/full"), false, false);
        errors.add(Errno.EIO);
        descriptor.set(full.descriptor());
        assertEquals(IoStatus.FAILED, sync());
        String why = ((FileDevice) device).refusal();
        assertTrue(why.startsWith("cannot sync segment 0 in "), why);
        errors.clear();
        descriptor.set(-1);
        full.close();
        assertEquals(IoStatus.FAILED, sync());
        append(8192, 4096);
        append(SEGMENT, 4096);
        assertEquals(IoStatus.FAILED, sync());
        assertReads(4096, 4096);
        device.truncate(SEGMENT);
        assertEquals(IoStatus.OK, sync());
    }

    /**
     * A request that ends with EAGAIN, EINTR or ECANCELED is made again. The injected errors reach only the engines
     * that call the files' methods; io_uring consumes none of them, but handles its results with the same code.
     */
    @Test
    void whatTheKernelPutsOffComesAgain() throws IOException {
        Deque<Integer> errors = new ConcurrentLinkedDeque<>();
        reopenFailing(errors, new AtomicInteger(-1));
        for (int error : new int[] {Errno.EAGAIN, Errno.EINTR, Errno.ECANCELED}) {
            errors.add(error);
            append(device.end(), 4096);
            errors.add(error);
            assertReads(0, 4096);
            errors.add(error);
            assertEquals(IoStatus.OK, sync());
        }
        assertEquals(engine == Engine.IO_URING ? 9 : 0, errors.size());
        assertEquals(0, ((FileDevice) device).failures());
    }

    /** A storage whose files fail with these errors first. */
    private record BusyStorage(Storage storage, Deque<Integer> errors, AtomicInteger descriptor) implements Storage {
        @Override
        public String name() {
            return storage.name();
        }

        @Override
        public int alignment() {
            return storage.alignment();
        }

        @Override
        public String remark() {
            return storage.remark();
        }

        @Override
        public List<String> list() {
            return storage.list();
        }

        @Override
        public StoredFile create(String name) {
            return new BusyFile(storage.create(name), errors, descriptor);
        }

        @Override
        public StoredFile open(String name) {
            return new BusyFile(storage.open(name), errors, descriptor);
        }

        @Override
        public void rename(String from, String to) {
            storage.rename(from, to);
        }

        @Override
        public void delete(String name) {
            storage.delete(name);
        }

        @Override
        public void sync() {
            storage.sync();
        }

        @Override
        public void close() {
            storage.close();
        }
    }

    private record BusyFile(StoredFile file, Deque<Integer> errors, AtomicInteger other) implements StoredFile {
        @Override
        public int descriptor() {
            int instead = other.get();
            return instead < 0 ? file.descriptor() : instead;
        }

        @Override
        public long size() {
            return file.size();
        }

        @Override
        public long read(long position, MemorySegment memory, long offset, long length) {
            Integer error = errors.poll();
            return error == null ? file.read(position, memory, offset, length) : -error;
        }

        @Override
        public long write(long position, MemorySegment memory, long offset, long length) {
            Integer error = errors.poll();
            return error == null ? file.write(position, memory, offset, length) : -error;
        }

        @Override
        public int sync() {
            Integer error = errors.poll();
            return error == null ? file.sync() : error;
        }

        @Override
        public void close() {
            file.close();
        }
    }

    @Test
    void aDirectoryIsOneDevices() {
        says(StorageException.class, "is in use", this::reopen);
        append(0, 4096);
    }

    private void refused(String part) {
        says(StorageException.class, part, this::reopen);
    }

    @Test
    void aDirectoryThatIsNoLogIsRefusedInOneSentence() throws IOException {
        append(0, 4096);
        append(SEGMENT, 4096);
        append(2 * SEGMENT, 4096);
        handle.close();
        memory.close();
        device.close();
        says(
                StorageException.class,
                "has segments of " + SEGMENT + " bytes, and " + 2 * SEGMENT + " were asked for",
                () -> FileDevice.open(directory, 2L * SEGMENT));
        Path stranger = Files.createFile(directory.resolve("segment-zz"));
        refused("has a file segment-zz, which is no segment's name");
        Files.delete(stranger);
        Path large = directory.resolve("segment-0000000000000003");
        Files.write(large, new byte[SEGMENT + 1]);
        refused("more than a segment's " + SEGMENT);
        Files.delete(large);
        Path middle = directory.resolve("segment-0000000000000001");
        Path away = Files.move(middle, directory.resolve("away"));
        refused("and none between");
        Files.move(away, middle);
        Path shape = directory.resolve("device");
        byte[] text = Files.readAllBytes(shape);
        text[30] ^= 1;
        Files.write(shape, text);
        refused("is damaged");
        text[30] ^= 1;
        text[20] = '7';
        Files.write(shape, text);
        refused("version 7");
        Files.write(shape, new byte[10]);
        refused("is damaged");
        Files.delete(shape);
        refused("has segments of a log and no file 'device'");
        text[20] = '1';
        Files.write(shape, text);
        Files.write(directory.resolve("device.new"), new byte[3]);
        begin2();
        assertReads(2 * SEGMENT, 4096);
        assertEquals(List.of(), files().stream().filter("device.new"::equals).toList());
    }

    private void begin2() {
        device = reopen();
        memory = device.register(bytes);
        handle = device.open();
    }

    @Test
    void aPlaceThatIsNoDirectoryIsRefused() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        String message = assertThrows(StorageException.class, () -> FileDevice.open(file, SEGMENT))
                .getMessage();
        assertTrue(message.startsWith("cannot use directory " + file), message);
    }
}
