package io.farheap.tier;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.FileOptions.Engine;
import io.farheap.tier.device.Storage;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.file.FileEngine;
import io.farheap.tier.file.FileLog;
import io.farheap.tier.file.FileThreads;
import io.farheap.tier.file.PollerEngine;
import io.farheap.tier.file.UringEngine;
import io.farheap.tier.handle.BaseHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A log in a directory, with a file for each segment and direct I/O: the part that was {@linkplain DeviceHandle#sync
 * synced} survives a power cut. A directory that has a log can be opened again. Then {@link #begin} is the lowest
 * segment's first address, and {@link #end} is the end of the last file: behind all that was synced, and perhaps behind
 * bytes that were not synced and are missing. {@code LogDirectory} describes the format.
 *
 * <p>The first append to a segment creates its file, and those between it and the last one, and waits for the disk, as
 * {@link #truncate} does. The last file is always kept, since it says where the log ends. An {@link FileEngine} reads
 * and writes the files; {@link #name} says which.
 */
public final class FileDevice extends BaseDevice {

    private final Storage storage;
    private final FileEngine engine;
    private final FileLog log;

    private FileDevice(Storage storage, long segmentBytes, FileEngine engine) {
        super(segmentBytes, storage.alignment());
        this.storage = storage;
        this.engine = engine;
        this.log = new FileLog(storage, segmentBytes);
    }

    /** As {@link #open(Path, long, FileOptions)}, with {@link FileOptions#DEFAULT}. */
    public static FileDevice open(Path directory, long segmentBytes) {
        return open(directory, segmentBytes, FileOptions.DEFAULT);
    }

    /**
     * @param directory is made if it does not exist
     * @param segmentBytes a power of two, at least 4,096; for an existing log, the size that it has
     * @throws StorageException if the directory is in use or has files that are no log, or if the system refuses, such
     *     as {@link Engine#IO_URING}
     */
    public static FileDevice open(Path directory, long segmentBytes, FileOptions options) {
        return open(DiskStorage.open(directory), segmentBytes, options);
    }

    /** @param storage is closed with the device, and also if the device cannot be opened */
    public static FileDevice open(Storage storage, long segmentBytes, FileOptions options) {
        FileEngine engine = null;
        try {
            engine = engine(options, storage);
            return new FileDevice(storage, segmentBytes, engine);
        } catch (Throwable e) {
            Closeables.after(e, engine, storage);
            throw e;
        }
    }

    private static FileEngine engine(FileOptions options, Storage storage) {
        return switch (options.engine()) {
            case THREADS -> new FileThreads(options);
            case POLLER -> new PollerEngine(options.requests());
            case IO_URING -> UringEngine.open(options.requests());
            case FASTEST ->
                UringEngine.allowed() && storage instanceof DiskStorage
                        ? UringEngine.open(options.requests())
                        : new FileThreads(options.with(Engine.THREADS));
        };
    }

    @Override
    public String name() {
        return "file, " + engine.name() + (storage.remark().isEmpty() ? "" : ", " + storage.remark());
    }

    @Override
    public long capacity() {
        return MAX_ADDRESS;
    }

    @Override
    public boolean durable() {
        return true;
    }

    @Override
    public long begin() {
        return log.begin();
    }

    @Override
    public long end() {
        return log.end();
    }

    /** How many requests the storage refused. */
    public long failures() {
        return log.failures();
    }

    @Override
    public @Nullable String refusal() {
        return log.refusal();
    }

    @Override
    public boolean mayHave(long address, long length) {
        return log.mayHave(address, length);
    }

    @Override
    public void truncate(long below) {
        log.truncate(below);
    }

    @Override
    BaseHandle openHandle(BaseHandle.Registry registry) {
        return engine.open(this, registry, log);
    }

    @Override
    void free() {
        Closeables.all(engine, log::close, storage);
    }
}
