package io.farheap.bench.resilience;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

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
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Two copies of each page, compressed (Hydra, FAST '22, section 2.2): eight bytes of length, and the output of a
 * compressor, or the page itself if that is not shorter. Clients also know each page's length, so they read no more
 * than that. A copy that does not decompress ends a request as {@link CodedStatus#CORRUPT}; there is no other check.
 */
final class CompressedSide implements FarSide {

    static final int COPIES = 2;
    private static final int HEADER_BYTES = Long.BYTES;
    private static final int DEPTH = 16;

    private final RemoteMemory memory;
    private final int pageBytes;
    private final int slotBytes;
    private final int slotsOfRegion;
    private final PageCompressorProvider compressors;
    private final SideRegions regions;
    /** By page: bytes after the header; those of a page if it is not compressed. */
    private final AtomicIntegerArray lengths;

    CompressedSide(RemoteMemory memory, int pageBytes, long bytes, PageCompressorProvider compressors) {
        this.memory = memory;
        this.compressors = compressors;
        this.pageBytes = pageBytes;
        this.slotBytes = slotBytes(pageBytes);
        List<RemoteServer> servers = memory.servers();
        this.slotsOfRegion = (int) (servers.getFirst().description().regionBytes() / slotBytes);
        int pages = (int) (bytes / pageBytes);
        this.lengths = new AtomicIntegerArray(pages);
        this.regions = new SideRegions(memory);
        try {
            for (int i = 0; i * slotsOfRegion < pages; i++) {
                for (int copy = 0; copy < COPIES; copy++) {
                    regions.take(servers.get((i + copy) % servers.size()));
                }
            }
        } catch (Throwable e) {
            Closeables.after(e, regions);
            throw e;
        }
    }

    /** Returns the most bytes of a page on a server. */
    static int slotBytes(int pageBytes) {
        return pageBytes + HEADER_BYTES;
    }

    private RemoteRegion region(int page, int copy) {
        return regions.get(page / slotsOfRegion * COPIES + copy);
    }

    @Override
    public FarMemoryClient open() {
        return new Client();
    }

    /** Counts the bytes of the current copies; slots have room for more. */
    @Override
    public double memoryOverhead() {
        long used = IntStream.range(0, lengths.length())
                .mapToLong(page -> HEADER_BYTES + lengths.get(page))
                .sum();
        return (double) COPIES * used / ((long) lengths.length() * pageBytes);
    }

    /** The pages' lengths. */
    @Override
    public long localBytes() {
        return (long) Integer.BYTES * lengths.length();
    }

    @Override
    public @Nullable Health health() {
        return null;
    }

    @Override
    public void close() {
        regions.close();
    }

    private final class Client extends PageClient {

        private final CloseStack opened = new CloseStack();
        private final RemoteQueue queue;
        private final RegisteredBuffer buffer;
        private final MemorySegment slot;
        private final PageCompressor compressor;
        private final SplittableRandom random = new SplittableRandom(1);
        private final CompletionHandler handler = this::completed;

        private int page;
        /** Destination of a page that is read; null for a write. */
        private @Nullable MemorySegment into;

        private int underWay;
        private int done;
        private int status;

        Client() {
            super(pageBytes);
            try {
                compressor = opened.add(compressors.open());
                buffer = opened.add(memory.register(slotBytes));
                queue = opened.add(
                        memory.openQueue(QueueOptions.DEFAULT.withDepth(Math.min(DEPTH, memory.maxQueueDepth()))));
            } catch (Throwable e) {
                Closeables.after(e, this);
                throw e;
            }
            slot = buffer.segment();
        }

        private void completed(long copy, int outcome) {
            underWay--;
            if (outcome == Outcome.DONE) {
                done++;
            } else {
                regions.lose(region(page, (int) copy));
            }
        }

        @Override
        void fetch(int number, MemorySegment destination) {
            page = number;
            into = destination;
            done = 0;
            ask();
        }

        /** Reads any copy that is left; if there is none, nothing is under way afterwards. */
        private void ask() {
            int first = random.nextInt(COPIES);
            for (int i = 0; i < COPIES && underWay == 0; i++) {
                post(false, (first + i) % COPIES);
            }
        }

        @Override
        void store(int number, MemorySegment from) {
            page = number;
            into = null;
            done = 0;
            int length = compress(from);
            slot.set(JAVA_LONG, 0, length);
            lengths.set(page, length);
            for (int copy = 0; copy < COPIES; copy++) {
                post(true, copy);
            }
        }

        private void post(boolean write, int copy) {
            RemoteRegion region = region(page, copy);
            if (regions.lost(region)) {
                return;
            }
            long offset = (long) (page % slotsOfRegion) * slotBytes;
            int bytes = HEADER_BYTES + lengths.get(page);
            int posting = write
                    ? queue.write(region, offset, buffer, 0, bytes, copy)
                    : queue.read(region, offset, buffer, 0, bytes, copy);
            switch (posting) {
                case PostResult.OK -> underWay++;
                case PostResult.LOST -> regions.lose(region);
                default -> throw new IllegalStateException(PostResult.describe(posting));
            }
        }

        private int compress(MemorySegment from) {
            int length = compressor.compress(from, slot.asSlice(HEADER_BYTES, pageBytes - 1));
            if (length > 0) {
                return length;
            }
            MemorySegment.copy(from, 0, slot, HEADER_BYTES, pageBytes);
            return pageBytes;
        }

        private boolean decompress(MemorySegment destination) {
            int length = lengths.get(page);
            if (slot.get(JAVA_LONG, 0) != length) {
                return false;
            }
            if (length == pageBytes) {
                MemorySegment.copy(slot, HEADER_BYTES, destination, 0, pageBytes);
                return true;
            }
            return compressor.decompress(slot.asSlice(HEADER_BYTES, length), destination);
        }

        @Override
        boolean step() {
            if (underWay > 0) {
                queue.poll(handler);
            }
            if (underWay == 0 && done == 0 && into != null) {
                ask();
            }
            if (underWay > 0) {
                return false;
            }
            MemorySegment destination = into;
            if (done == 0) {
                status = CodedStatus.LOST;
            } else {
                status = destination == null || decompress(destination) ? CodedStatus.OK : CodedStatus.CORRUPT;
            }
            return true;
        }

        @Override
        int result() {
            return status;
        }

        @Override
        public VerbCounts posted() {
            return queue.posted();
        }

        @Override
        public void close() {
            Closeables.all(opened, super::close);
        }
    }
}
