package io.farheap.bench.resilience;

import io.farheap.lifetime.Closing;
import io.farheap.remote.CompletionHandler;
import io.farheap.remote.Outcome;
import io.farheap.remote.Posting;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.VerbCounts;
import io.farheap.resilience.CodedStatus;
import io.farheap.resilience.Health;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One copy and nothing around it: READs and WRITEs of a queue, from and to registered memory. Whatever is coded is
 * compared with what the device does.
 */
final class PlainSide implements FarSide {

    private static final int DEPTH = 16;

    private final RemoteMemory memory;
    private final int pageBytes;
    /** Of a region, those that whole pages take. */
    private final long usedBytes;

    private final long regionBytes;
    private final Regions regions;

    /** @param bytes spread over all servers, region by region */
    PlainSide(RemoteMemory memory, int pageBytes, long bytes) {
        this.memory = memory;
        this.pageBytes = pageBytes;
        List<RemoteServer> servers = memory.servers();
        this.regionBytes = servers.getFirst().description().regionBytes();
        this.usedBytes = regionBytes / pageBytes * pageBytes;
        long count = (bytes + usedBytes - 1) / usedBytes;
        this.regions = new Regions(memory);
        try {
            for (int i = 0; i < count; i++) {
                regions.take(servers.get(i % servers.size()));
            }
        } catch (Throwable e) {
            Closing.after(e, regions);
            throw e;
        }
    }

    Regions regions() {
        return regions;
    }

    /** What has that address. */
    RemoteRegion region(long address) {
        return regions.get((int) (address / usedBytes));
    }

    @Override
    public FarClient open() {
        return new Client();
    }

    @Override
    public double memoryOverhead() {
        return (double) regionBytes / usedBytes;
    }

    @Override
    public @Nullable Health health() {
        return null;
    }

    @Override
    public void close() {
        regions.close();
    }

    private final class Client implements FarClient {

        private final RemoteQueue queue;
        private final RegisteredBuffer buffer;
        private boolean ended = true;
        private int status;
        private final CompletionHandler handler = (tag, outcome) -> {
            ended = true;
            status = outcome == Outcome.DONE ? CodedStatus.OK : CodedStatus.LOST;
        };

        Client() {
            queue = memory.openQueue(QueueOptions.DEFAULT.withDepth(Math.min(DEPTH, memory.maxQueueDepth())));
            try {
                buffer = memory.register(pageBytes);
            } catch (Throwable e) {
                Closing.after(e, queue);
                throw e;
            }
        }

        @Override
        public MemorySegment memory() {
            return buffer.segment();
        }

        @Override
        public void begin(Access access, long address) {
            RemoteRegion region = region(address);
            long offset = address % usedBytes;
            ended = false;
            int verdict = access.write()
                    ? queue.write(region, offset, buffer, 0, access.bytes(), 0)
                    : queue.read(region, offset, buffer, 0, access.bytes(), 0);
            if (verdict != Posting.OK) {
                ended = true;
                status = CodedStatus.LOST;
            }
        }

        @Override
        public boolean ended() {
            if (!ended) {
                queue.poll(handler);
            }
            return ended;
        }

        @Override
        public int status() {
            return status;
        }

        @Override
        public VerbCounts posted() {
            return queue.posted();
        }

        @Override
        public void close() {
            Closing.all(queue, buffer);
        }
    }
}
