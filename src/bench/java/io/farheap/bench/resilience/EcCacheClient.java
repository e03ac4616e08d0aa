package io.farheap.bench.resilience;

import io.farheap.coding.Coder;
import io.farheap.coding.ErasureCode;
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
import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedStatus;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/**
 * A client of EC-Cache. A write copies the page, encodes, posts all splits and waits for all; a read posts k + Δ random
 * ones, and decodes from any k of them, and then copies the result. It sleeps until completions come instead of
 * polling. {@link HydraParts} replace some of that. One thread.
 */
final class EcCacheClient extends PageClient {

    /**
     * A read of which late splits are still under way keeps its frame: they must not arrive in the frame of another
     * read.
     */
    private static final int READ_FRAMES = 16;

    private static final int WRITE_FRAME = READ_FRAMES;
    private static final int NO_FRAME = -1;
    private static final int DEPTH = 32;
    private static final int FRAME_SHIFT = 8;
    private static final int SPLIT_MASK = (1 << FRAME_SHIFT) - 1;
    /** Short, since a thread may have two clients, both of which have to make progress. */
    private static final long SLEEP_NANOS = 100_000;

    private final PageLayout layout;
    private final HydraParts parts;
    private final int splitBytes;
    private final RandomGroups groups;
    private final CloseStack opened = new CloseStack();
    private final Coder coder;
    private final RegisteredBuffer buffer;
    private final RemoteQueue queue;
    /** Decoded data splits: no late split arrives here. */
    private final RegisteredBuffer decoded;

    private final CompletionHandler handler = this::completed;
    private final SplittableRandom random = new SplittableRandom(1);
    private final long[] addresses;
    private final int[] order;
    /** By frame: operations of which the tags are in use. */
    private final int[] underWay = new int[READ_FRAMES + 1];
    /** By frame: the number of its page. */
    private final int[] pages = new int[READ_FRAMES + 1];

    /** By frame: the memory of the page in it. */
    private final MemorySegment[] framePages = new MemorySegment[READ_FRAMES];

    private int page;
    /** Offset in the buffer of the data splits that are written. */
    private long source;

    private MemorySegment into = MemorySegment.NULL;
    /** The frame of the current request. */
    private int frame = NO_FRAME;

    private int asked;
    private int arrived;
    private int status;

    static EcCacheClient open(RemoteMemory memory, PageLayout layout, RandomGroups groups, HydraParts parts) {
        long frameBytes = (READ_FRAMES + 1L) * layout.splits() * layout.slotBytes();
        return new EcCacheClient(
                memory,
                layout,
                groups,
                parts,
                memory.register(frameBytes + 2L * layout.dataSplits() * layout.slotBytes()),
                frameBytes);
    }

    /**
     * Takes ownership of the buffer.
     *
     * @param pagesAt offset in the buffer, behind the frames: two pages
     */
    private EcCacheClient(
            RemoteMemory memory,
            PageLayout layout,
            RandomGroups groups,
            HydraParts parts,
            RegisteredBuffer buffer,
            long pagesAt) {
        super(layout.dataSplits() * layout.slotBytes(), buffer.segment().asSlice(pagesAt));
        this.layout = layout;
        this.parts = parts;
        this.splitBytes = layout.slotBytes();
        this.buffer = opened.add(buffer);
        this.groups = groups;
        this.addresses = new long[layout.splits()];
        this.order = new int[layout.splits()];
        try {
            coder = opened.add(new Coder(ErasureCode.of(layout.dataSplits(), layout.paritySplits())));
            for (int i = 0; i < READ_FRAMES; i++) {
                framePages[i] = buffer.segment().asSlice(at(i, 0), (long) layout.dataSplits() * splitBytes);
            }
            decoded = opened.add(memory.register((long) layout.dataSplits() * splitBytes));
            queue = opened.add(
                    memory.openQueue(QueueOptions.DEFAULT.withDepth(Math.min(DEPTH, memory.maxQueueDepth()))));
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    private void completed(long tag, int outcome) {
        int of = (int) (tag >>> FRAME_SHIFT);
        int split = (int) tag & SPLIT_MASK;
        underWay[of]--;
        if (outcome != Outcome.DONE) {
            groups.regions().lose(groups.region(pages[of], split));
        } else if (of == frame) {
            arrived |= 1 << split;
        }
    }

    private long at(int of, int split) {
        return ((long) of * layout.splits() + split) * splitBytes;
    }

    private void begin(int of) {
        frame = of;
        pages[of] = page;
        asked = 0;
        arrived = 0;
    }

    @Override
    void store(int number, MemorySegment from) {
        page = number;
        begin(WRITE_FRAME);
        MemorySegment segment = buffer.segment();
        if (parts.has(HydraParts.IN_PLACE_CODING)) {
            source = from.address() - segment.address();
        } else {
            source = at(frame, 0);
            MemorySegment.copy(from, 0, segment, source, (long) layout.dataSplits() * splitBytes);
        }
        for (int split = 0; split < layout.splits(); split++) {
            addresses[split] = segment.address() + sourceOf(split);
        }
        if (parts.has(HydraParts.ASYNCHRONOUS_ENCODING)) {
            write(0, layout.dataSplits());
            coder.encode(addresses, splitBytes);
            write(layout.dataSplits(), layout.splits());
        } else {
            coder.encode(addresses, splitBytes);
            write(0, layout.splits());
        }
    }

    private void write(int from, int until) {
        for (int split = from; split < until; split++) {
            post(true, split);
        }
    }

    /** Returns a split's offset in the buffer. */
    private long sourceOf(int split) {
        return split < layout.dataSplits() ? source + (long) split * splitBytes : at(frame, split);
    }

    @Override
    void fetch(int number, MemorySegment destination) {
        page = number;
        into = destination;
        frame = NO_FRAME;
        ask();
    }

    /** If a frame is free, reads random splits that were not read before, until enough have come or are under way. */
    private void ask() {
        if (frame == NO_FRAME) {
            int free = 0;
            while (free < READ_FRAMES && underWay[free] > 0) {
                free++;
            }
            if (free == READ_FRAMES) {
                return;
            }
            begin(free);
        }
        int wanted = layout.dataSplits() + (asked == 0 ? layout.additional() : 0);
        int coming = Integer.bitCount(arrived) + underWay[frame];
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
        }
        for (int i = 0; i < order.length && coming < wanted; i++) {
            int other = i + random.nextInt(order.length - i);
            int split = order[other];
            order[other] = order[i];
            if ((asked >>> split & 1) == 0 && post(false, split)) {
                coming++;
            }
        }
    }

    private boolean post(boolean write, int split) {
        asked |= 1 << split;
        RemoteRegion region = groups.region(page, split);
        if (groups.regions().lost(region)) {
            return false;
        }
        long offset = groups.offset(page, split);
        long tag = (long) frame << FRAME_SHIFT | split;
        int posting = write
                ? queue.write(region, offset, buffer, sourceOf(split), splitBytes, tag)
                : queue.read(region, offset, buffer, at(frame, split), splitBytes, tag);
        switch (posting) {
            case PostResult.OK -> underWay[frame]++;
            case PostResult.LOST -> groups.regions().lose(region);
            default -> throw new IllegalStateException(PostResult.describe(posting));
        }
        return posting == PostResult.OK;
    }

    @Override
    MemorySegment fetched(MemorySegment elsewhere) {
        return parts.has(HydraParts.IN_PLACE_CODING) && frame < READ_FRAMES ? framePages[frame] : elsewhere;
    }

    @Override
    boolean step() {
        queue.poll(handler);
        if (frame == WRITE_FRAME ? written() : read()) {
            return true;
        }
        if (!parts.has(HydraParts.RUN_TO_COMPLETION)) {
            queue.await(SLEEP_NANOS);
        }
        return false;
    }

    private boolean written() {
        if (underWay[frame] > 0) {
            return false;
        }
        status = enough() ? CodedStatus.OK : CodedStatus.LOST;
        return true;
    }

    private boolean read() {
        if (frame == NO_FRAME || !enough() && missing()) {
            ask();
        }
        if (frame == NO_FRAME || !enough() && !missing()) {
            return false;
        }
        status = enough() ? CodedStatus.OK : CodedStatus.LOST;
        if (status == CodedStatus.OK) {
            decode();
        }
        return true;
    }

    private boolean enough() {
        return Integer.bitCount(arrived) >= layout.dataSplits();
    }

    /** Whether fewer than k splits have arrived or are under way. */
    private boolean missing() {
        return Integer.bitCount(arrived) + underWay[frame] < layout.dataSplits();
    }

    /** Decodes the page. A split that arrives late in the decoded page has the same bytes, until the next request. */
    private void decode() {
        boolean inPlace = parts.has(HydraParts.IN_PLACE_CODING);
        long from = buffer.segment().address();
        int absent = coder.code().data() & ~arrived;
        for (int split = 0; split < layout.splits(); split++) {
            addresses[split] = !inPlace && (absent >>> split & 1) != 0
                    ? decoded.segment().address() + (long) split * splitBytes
                    : from + at(frame, split);
        }
        coder.recover(addresses, splitBytes, arrived, absent);
        for (int split = 0; !inPlace && split < layout.dataSplits(); split++) {
            boolean made = (absent >>> split & 1) != 0;
            MemorySegment.copy(
                    made ? decoded.segment() : buffer.segment(),
                    made ? (long) split * splitBytes : at(frame, split),
                    into,
                    (long) split * splitBytes,
                    splitBytes);
        }
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
