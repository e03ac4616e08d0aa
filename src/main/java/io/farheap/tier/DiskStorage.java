package io.farheap.tier;

import io.farheap.lifetime.Closeables;
import io.farheap.posix.DirectFile;
import io.farheap.posix.Errno;
import io.farheap.posix.ExclusiveLock;
import io.farheap.posix.FileNames;
import io.farheap.posix.PosixException;
import io.farheap.tier.device.Storage;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.device.StoredFile;
import io.farheap.tier.handle.OwnedMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The files of a directory, read and written past the kernel's page cache (direct I/O) if the file system can;
 * otherwise {@link #remark} is {@code buffered}. While it is open, a file {@code lock} keeps other processes away.
 */
public final class DiskStorage implements Storage {

    private static final String LOCK = "lock";
    private static final int LEAST_ALIGNMENT = 512;

    private final Path directory;
    private final int alignment;
    private final ExclusiveLock lock;
    private volatile boolean direct = true;

    private DiskStorage(Path directory, int alignment, ExclusiveLock lock) {
        this.directory = directory;
        this.alignment = alignment;
        this.lock = lock;
    }

    /**
     * @param directory is made if it does not exist
     * @throws IllegalArgumentException if its name cannot be written in this locale
     * @throws StorageException if the directory is in use, by this process or another, or the system refuses
     */
    public static DiskStorage open(Path directory) {
        FileNames.require(directory);
        ExclusiveLock lock = null;
        try {
            Files.createDirectories(directory);
            lock = ExclusiveLock.tryTake(directory.resolve(LOCK));
            if (lock == null) {
                throw new StorageException("directory " + directory
                        + " is in use, by this process or another: close that device first, or take another directory");
            }
            long block = Files.getFileStore(directory).getBlockSize();
            int alignment = Math.clamp(Long.highestOneBit(block), LEAST_ALIGNMENT, (int) OwnedMemory.PAGE_BYTES);
            return new DiskStorage(directory, alignment, lock);
        } catch (IOException | RuntimeException e) {
            Closeables.after(e, lock);
            throw e instanceof StorageException known
                    ? known
                    : new StorageException("cannot use directory " + directory + ": " + e, e);
        }
    }

    @Override
    public String name() {
        return directory.toString();
    }

    @Override
    public int alignment() {
        return alignment;
    }

    @Override
    public String remark() {
        return direct ? "" : "buffered";
    }

    @Override
    public List<String> list() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> Objects.requireNonNull(file.getFileName()).toString())
                    .filter(name -> !name.equals(LOCK))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new StorageException("cannot list directory " + directory + ": " + e, e);
        }
    }

    @Override
    public StoredFile create(String name) {
        return file(name, true);
    }

    @Override
    public StoredFile open(String name) {
        return file(name, false);
    }

    private StoredFile file(String name, boolean create) {
        Path path = directory.resolve(name);
        try {
            return new DiskFile(path, opened(path, create));
        } catch (PosixException e) {
            throw new StorageException("cannot " + (create ? "create " : "open ") + path + ": " + e.getMessage(), e);
        }
    }

    private DirectFile opened(Path path, boolean create) {
        if (direct) {
            try {
                return DirectFile.open(path, create, true);
            } catch (PosixException e) {
                if (e.errno() != Errno.EINVAL) {
                    throw e;
                }
                // A file system without direct I/O; some create the file before they refuse.
                direct = false;
                return DirectFile.open(path, create && !Files.exists(path), false);
            }
        }
        return DirectFile.open(path, create, false);
    }

    @Override
    public void rename(String from, String to) {
        try {
            Files.move(
                    directory.resolve(from),
                    directory.resolve(to),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new StorageException("cannot rename " + from + " to " + to + " in " + directory + ": " + e, e);
        }
    }

    @Override
    public void delete(String name) {
        try {
            Files.delete(directory.resolve(name));
        } catch (IOException e) {
            throw new StorageException("cannot delete " + directory.resolve(name) + ": " + e, e);
        }
    }

    @Override
    public void sync() {
        calling("sync directory " + directory, () -> {
            DirectFile.syncDirectory(directory);
            return true;
        });
    }

    private static <T> T calling(String what, Supplier<T> call) {
        try {
            return call.get();
        } catch (PosixException e) {
            throw new StorageException("cannot " + what + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        Closeables.all(lock);
    }

    private record DiskFile(Path path, DirectFile file) implements StoredFile {

        @Override
        public int descriptor() {
            return file.descriptor();
        }

        @Override
        public long size() {
            return calling("find the size of " + path, file::size);
        }

        @Override
        public long read(long position, MemorySegment memory, long offset, long length) {
            return file.read(
                    position, memory.address() + Objects.checkFromIndexSize(offset, length, memory.byteSize()), length);
        }

        @Override
        public long write(long position, MemorySegment memory, long offset, long length) {
            return file.write(
                    position, memory.address() + Objects.checkFromIndexSize(offset, length, memory.byteSize()), length);
        }

        @Override
        public int sync() {
            return file.syncData();
        }

        @Override
        public void close() {
            file.close();
        }
    }
}
