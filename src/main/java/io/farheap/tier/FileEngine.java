package io.farheap.tier;

/** Who reads and writes the files of a {@link FileDevice}. */
interface FileEngine extends AutoCloseable {

    /** For reports. */
    String name();

    FileHandle open(Device device, BaseHandle.Registry registry, FileLog log);

    /** Its handles are closed. */
    @Override
    void close();
}
