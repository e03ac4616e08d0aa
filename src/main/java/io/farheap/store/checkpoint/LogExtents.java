package io.farheap.store.checkpoint;

import io.farheap.store.log.LogThread;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The parts of a log that were written, with their checksums. */
public final class LogExtents implements LogThread.Written {

    private final List<Checkpoint.Extent> written = new ArrayList<>();

    public synchronized void addAll(Collection<Checkpoint.Extent> extents) {
        written.addAll(extents);
    }

    @Override
    public synchronized void add(long from, ByteBuffer bytes) {
        long to = from + bytes.remaining();
        written.add(new Checkpoint.Extent(from, to, Checkpoint.crc(bytes)));
    }

    /** The extents that cover the log from {@code begin} to {@code end}. */
    synchronized List<Checkpoint.Extent> between(long begin, long end) {
        written.removeIf(extent -> extent.to() <= begin);
        return written.stream().filter(extent -> extent.from() < end).toList();
    }
}
