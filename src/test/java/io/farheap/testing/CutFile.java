package io.farheap.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A mapped file that is cut, as if by another process: each access to the lost part is an error. */
public final class CutFile implements AutoCloseable {

    private final FileChannel channel;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    /** @param directory where the file is made */
    public CutFile(Path directory, long bytes) throws IOException {
        channel = FileChannel.open(
                directory.resolve("cut"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
        } catch (Throwable e) {
            try (channel;
                    arena) {
                throw e;
            }
        }
    }

    /** The whole mapping, also after the cut. */
    public MemorySegment segment() {
        return segment;
    }

    /** From now on the file is empty. */
    public void cut() throws IOException {
        channel.truncate(0);
    }

    @Override
    public void close() throws IOException {
        arena.close();
        channel.close();
    }
}
