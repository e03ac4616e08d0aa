package io.farheap.tier.file;

import io.farheap.tier.device.Device;
import io.farheap.tier.handle.BaseHandle;

/** Who reads and writes the files of a {@link io.farheap.tier.FileDevice}. */
public interface FileEngine extends AutoCloseable {

    /** For reports. */
    String name();

    FileHandle open(Device device, BaseHandle.Registry registry, FileLog log);

    /** Its handles are closed. */
    @Override
    void close();
}
