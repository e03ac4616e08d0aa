package io.farheap.tier;

import io.farheap.tier.FileOptions.Engine;

/** Who reads and writes the files of a {@link FileDevice}. */
interface FileEngine extends AutoCloseable {

    /** For reports. */
    String name();

    FileHandle open(FileDevice device);

    /** Its handles are closed. */
    @Override
    void close();

    static FileEngine open(FileOptions options, Storage storage) {
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
}
