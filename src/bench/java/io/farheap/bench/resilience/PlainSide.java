package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One copy without any protection: READs and WRITEs of a queue, from and to registered memory. It is the device's own
 * speed, with which coded memory is compared.
 */
final class PlainSide implements FarSide {

    private static final int DEPTH = 16;
    private static final long MEND_AGAIN_NANOS = 5_000_000;
    private static final VerbCounts NONE = new VerbCounts(0, 0, 0, 0, 0, 0, 0);

    private final RemoteMemory memory;
    private final int pageBytes;
    /** Bytes of a region that whole pages take. */
    private final long usedBytes;

    private final long regionBytes;
    private final SideRegions regions;

    /** @param bytes spread over all servers, region by region */
    PlainSide(RemoteMemory memory, int pageBytes, long bytes) {
        this.memory = memory;
        this.pageBytes = pageBytes;
        List<RemoteServer> servers = memory.servers();
        this.regionBytes = servers.getFirst().description().regionBytes();
        this.usedBytes = regionBytes / pageBytes * pageBytes;
        long count = (bytes + usedBytes - 1) / usedBytes;
        this.regions = new SideRegions(memory);
        try {
            for (int i = 0; i < count; i++) {
                regions.take(servers.get(i % servers.size()));
            }
        } catch (Throwable e) {
            Closeables.after(e, regions);
            throw e;
        }
    }

    SideRegions regions() {
        return regions;
    }

    /** Returns the region of an address. */
    RemoteRegion region(long address) {
        return regions.get((int) (address / usedBytes));
    }

    @Override
    public FarMemoryClient open() {
        return new Lanes(1).clients.getFirst();
    }

    @Override
    public List<FarMemoryClient> openLanes(int count, CloseStack opened) {
        return List.copyOf(opened.add(new Lanes(count)).clients);
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

    /** A thread's queue and its clients: each has a page of the memory, and a number that its operations carry. */
    private final class Lanes implements AutoCloseable {

        private final RemoteQueue queue;
        private final RegisteredBuffer buffer;
        private final List<Client> clients = new ArrayList<>();
        /** By a server's index: when it may be reconnected. */
        private final Map<Integer, Long> mending = new HashMap<>();

        private final CompletionHandler handler = this::completed;

        Lanes(int count) {
            int depth = Math.min(Math.max(DEPTH, count), memory.maxQueueDepth());
            queue = memory.openQueue(QueueOptions.DEFAULT.withDepth(depth));
            try {
                buffer = memory.register((long) pageBytes * count);
            } catch (Throwable e) {
                Closeables.after(e, queue);
                throw e;
            }
            for (int i = 0; i < count; i++) {
                clients.add(new Client(this, i));
            }
        }

        private void completed(long tag, int outcome) {
            if (tag < clients.size()) {
                clients.get((int) tag).end(outcome == Outcome.DONE ? CodedStatus.OK : CodedStatus.LOST);
                return;
            }
            int server = (int) tag - clients.size();
            if (outcome == Outcome.DONE) {
                mending.remove(server);
            } else {
                mending.put(server, System.nanoTime() + MEND_AGAIN_NANOS);
            }
        }

        void poll() {
            queue.poll(handler);
        }

        /**
         * Reconnects to a server in the background, since it may come back, and nothing else here reconnects. Not
         * called inside the poll.
         */
        void mend(RemoteServer server) {
            poll();
            int index = server.index();
            Long again = mending.get(index);
            if (server.lost() == null && (again == null || System.nanoTime() >= again)) {
                mending.put(index, Long.MAX_VALUE);
                queue.reconnect(server, clients.size() + index);
            }
        }

        @Override
        public void close() {
            Closeables.all(queue, buffer);
        }
    }

    private final class Client implements FarMemoryClient {

        private final Lanes lanes;
        private final int number;
        private final MemorySegment memory;
        private RequestKind access = new RequestKind(false, 0);
        private long address;
        /** Whether the queue had no room for the request yet. */
        private boolean waits;

        private boolean ended = true;
        private long endedAt;
        private int status;

        Client(Lanes lanes, int number) {
            this.lanes = lanes;
            this.number = number;
            this.memory = lanes.buffer.segment().asSlice((long) number * pageBytes, pageBytes);
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public void begin(RequestKind what, long at) {
            access = what;
            address = at;
            ended = false;
            post();
        }

        private void post() {
            RemoteRegion region = region(address);
            long offset = address % usedBytes;
            long at = (long) number * pageBytes;
            int verdict = access.write()
                    ? lanes.queue.write(region, offset, lanes.buffer, at, access.bytes(), number)
                    : lanes.queue.read(region, offset, lanes.buffer, at, access.bytes(), number);
            waits = verdict == PostResult.FULL;
            if (verdict != PostResult.OK && !waits) {
                end(CodedStatus.LOST);
                lanes.mend(region.server());
            }
        }

        void end(int outcome) {
            ended = true;
            endedAt = System.nanoTime();
            status = outcome;
        }

        @Override
        public boolean ended() {
            if (!ended) {
                lanes.poll();
                if (waits) {
                    post();
                }
            }
            return ended;
        }

        @Override
        public long endedAt() {
            return endedAt;
        }

        @Override
        public int status() {
            return status;
        }

        @Override
        public VerbCounts posted() {
            return number == 0 ? lanes.queue.posted() : NONE;
        }

        @Override
        public void close() {
            lanes.close();
        }
    }
}
