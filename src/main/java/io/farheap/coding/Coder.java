package io.farheap.coding;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Makes splits of an {@link ErasureCode} from other splits, checks whether splits agree, and finds which of them are
 * wrong. One thread at a time. A call allocates nothing if its combination of sources and targets was used before and
 * is still kept.
 *
 * <p>Splits are given by their addresses, in an array with an element for each split of the code; elements that a call
 * does not name are ignored. The caller is responsible for the memory: each address that a call uses has as many bytes
 * as the call says, until it returns, and no two overlap. Any alignment is allowed; multiples of 64 are fastest.
 */
public final class Coder implements AutoCloseable {

    /** Result of {@link #wrong}: no set of that many wrong splits explains the bytes that are there. */
    public static final int UNEXPLAINED = -1;

    /** A power of two. */
    private static final int KEPT = 512;
    /**
     * The places that a transform may be kept in. If more than these are used in turns, some are prepared again each
     * time.
     */
    private static final int WAYS = 8;

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final int SCRATCH_ALIGNMENT = 64;
    private static final int TARGETS_SHIFT = 32;

    private final ErasureCode code;
    private final CodingLibrary library;
    private final Arena arena = Arena.ofShared();
    private final Kernel kernel;

    // The key of each kept transform: its sources and targets. Its place is found by a hash of the two.
    private final long[] keptFor = new long[KEPT];
    private final @Nullable Transform[] kept = new Transform[KEPT];
    private final Arena[] keptArenas = new Arena[KEPT];
    /** The way that is replaced next if a set is full. */
    private int nextWay;

    private final long[] sourceAddresses = new long[ErasureCode.MOST_DATA];
    private final long[] targetAddresses = new long[ErasureCode.MOST_DATA + ErasureCode.MOST_PARITY];
    private @Nullable Arena scratchArena;
    private long scratch;
    private long scratchBytes;
    private boolean closed;

    /** Uses the {@linkplain CodingLibrary#chosen chosen} library; a log line says once if that is not the fastest. */
    public Coder(ErasureCode code) {
        this(code, CodingLibrary.chosenWithNotice());
    }

    /**
     * Uses a given library.
     *
     * @throws IllegalArgumentException if the machine does not have that library
     */
    public Coder(ErasureCode code, CodingLibrary library) {
        library.require();
        this.code = code;
        this.library = library;
        this.kernel = library.kernel(arena);
    }

    public ErasureCode code() {
        return code;
    }

    public CodingLibrary library() {
        return library;
    }

    /**
     * Makes all parity splits from all data splits.
     *
     * @param splits addresses by number
     * @param bytes of each, at least 1
     */
    public void encode(long[] splits, int bytes) {
        if (code.paritySplits() > 0) {
            make(splits, bytes, code.data(), code.parity());
        }
    }

    /**
     * Makes some splits from those that are there.
     *
     * @param present those that are there and right, a bit for each; k of them are used
     * @param targets those to be made, a bit for each
     * @throws IllegalArgumentException if fewer than k are there, or a target is there
     */
    public void recover(long[] splits, int bytes, int present, int targets) {
        code.checkMask(targets);
        if ((present & targets) != 0) {
            throw new IllegalArgumentException(
                    "splits 0x" + Integer.toHexString(present & targets) + " are present, and so cannot be targets");
        }
        int sources = code.sources(present);
        if (targets != 0) {
            make(splits, bytes, sources, targets);
        }
    }

    private void make(long[] splits, int bytes, int sources, int targets) {
        check(splits, bytes);
        Transform transform = transform(sources, targets);
        select(splits, sources, sourceAddresses);
        select(splits, targets, targetAddresses);
        kernel.run(transform, sourceAddresses, targetAddresses, bytes);
    }

    /**
     * Adds a change of a part of a data split to the same part of all parity splits.
     *
     * @param dataSplit its number
     * @param change address of the old bytes exclusive-or the new ones
     * @param parities addresses of that part of the parity splits, the first one's first
     */
    public void addChange(int dataSplit, long change, long[] parities, int bytes) {
        checkOpen(bytes);
        if (dataSplit < 0 || dataSplit >= code.dataSplits()) {
            throw new IllegalArgumentException(
                    "data split " + dataSplit + "; data splits have numbers from 0 to " + (code.dataSplits() - 1));
        }
        if (parities.length < code.paritySplits()) {
            throw new IllegalArgumentException(
                    parities.length + " addresses of parity splits, and the code has " + code.paritySplits());
        }
        if (code.paritySplits() > 0) {
            kernel.add(transform(code.data(), code.parity()), dataSplit, change, parities, bytes);
        }
    }

    /**
     * Whether splits belong to one page: k of them yield the others as they are. Up to n - k wrong splits among n are
     * always noticed.
     *
     * @param present at least k
     */
    public boolean agree(long[] splits, int bytes, int present) {
        int sources = code.sources(present);
        int others = present & ~sources;
        if (others == 0) {
            return true;
        }
        check(splits, bytes);
        reserve((long) bytes * code.splits());
        Transform transform = transform(sources, others);
        select(splits, sources, sourceAddresses);
        for (int i = 0; i < transform.targets(); i++) {
            targetAddresses[i] = scratch + (long) i * stride(bytes);
        }
        kernel.run(transform, sourceAddresses, targetAddresses, bytes);
        int next = 0;
        for (int split = 0; split < code.splits(); split++) {
            if ((others >>> split & 1) != 0) {
                long made = targetAddresses[next++];
                if (MemorySegment.mismatch(ALL, made, made + bytes, ALL, splits[split], splits[split] + bytes) >= 0) {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Finds which splits are wrong, if few are: the smallest set without which the others agree. If at most
     * {@code most} are wrong, it is exactly the set of wrong ones, as there are k + 2 {@code most} splits (Hydra,
     * section 4.1).
     *
     * @param most wrong ones, at least 0
     * @return a bit for each, 0 if all agree; {@link #UNEXPLAINED} if more are wrong
     * @throws IllegalArgumentException if too few splits are there to tell
     */
    public int wrong(long[] splits, int bytes, int present, int most) {
        int count = Integer.bitCount(present);
        if (most < 0 || count < code.dataSplits() + 2 * most) {
            throw new IllegalArgumentException(count + " splits are too few to find " + most
                    + " wrong ones; there must be at least " + (code.dataSplits() + 2 * most));
        }
        for (int size = 0; size <= most; size++) {
            for (int suspects = 0; suspects <= code.all(); suspects++) {
                if (Integer.bitCount(suspects) == size
                        && (suspects & ~present) == 0
                        && agree(splits, bytes, present & ~suspects)) {
                    return suspects;
                }
            }
        }
        return UNEXPLAINED;
    }

    private static void select(long[] splits, int mask, long[] into) {
        int next = 0;
        for (int left = mask; left != 0; left &= left - 1) {
            into[next++] = splits[Integer.numberOfTrailingZeros(left)];
        }
    }

    private Transform transform(int sources, int targets) {
        long key = (long) targets << TARGETS_SHIFT | sources;
        int first = (int) ((key ^ key >>> TARGETS_SHIFT) * 0x9E3779B97F4A7C15L >>> Long.SIZE - 9) & -WAYS;
        int place = first + (nextWay++ & WAYS - 1);
        for (int way = first; way < first + WAYS; way++) {
            Transform found = kept[way];
            if (found == null) {
                place = way;
                break;
            }
            if (keptFor[way] == key) {
                return found;
            }
        }
        if (kept[place] != null) {
            keptArenas[place].close();
            kept[place] = null;
        }
        Arena own = Arena.ofShared();
        keptArenas[place] = own;
        Transform made = new Transform(code.rows(sources, targets), own);
        kernel.prepare(made);
        kept[place] = made;
        keptFor[place] = key;
        return made;
    }

    private static long stride(int bytes) {
        return (long) bytes + SCRATCH_ALIGNMENT - 1 & -SCRATCH_ALIGNMENT;
    }

    private void reserve(long bytes) {
        long wanted = bytes + (long) code.splits() * SCRATCH_ALIGNMENT;
        if (scratchBytes >= wanted) {
            return;
        }
        if (scratchArena != null) {
            scratchArena.close();
            scratchBytes = 0;
        }
        scratchArena = Arena.ofShared();
        scratch = scratchArena.allocate(wanted, SCRATCH_ALIGNMENT).address();
        scratchBytes = wanted;
    }

    private void check(long[] splits, int bytes) {
        checkOpen(bytes);
        if (splits.length < code.splits()) {
            throw new IllegalArgumentException(
                    splits.length + " addresses for the " + code.splits() + " splits of a code of " + code);
        }
    }

    private void checkOpen(int bytes) {
        if (closed) {
            throw new IllegalStateException("the coder is closed");
        }
        if (bytes < 1) {
            throw new IllegalArgumentException("splits of " + bytes + " bytes; they have at least 1");
        }
    }

    /** Frees its native memory. Idempotent. Not while another thread uses it. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (int place = 0; place < KEPT; place++) {
            if (kept[place] != null) {
                keptArenas[place].close();
                kept[place] = null;
            }
        }
        if (scratchArena != null) {
            scratchArena.close();
        }
        arena.close();
    }
}
