package io.farheap.tier.file;

import io.farheap.tier.device.Device;
import io.farheap.tier.handle.BaseHandle;

/** Reads and writes the files of a {@link io.farheap.tier.FileDevice}. */
public interface FileEngine extends AutoCloseable {

    /** The engine's name, for reports. */
    String name();

    FileHandle open(Device device, BaseHandle.Registry registry, FileLog log);

    /** Closes the engine, whose handles are closed. */
    @Override
    void close();
}
