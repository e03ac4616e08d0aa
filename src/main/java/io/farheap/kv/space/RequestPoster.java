package io.farheap.kv.space;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Posts the operations of requests, and counts for each request the operations that have not come back; an operation
 * that completes at once is not counted. The queue accepts as much as all requests and hints need together, so a
 * posting fails only if a server is lost. One thread.
 */
public final class RequestPoster {

    private static final int MOST_OF_A_STEP = 4;
    /** Hints: writes and additions for which no request waits. */
    public static final int HINTS = 64;
    /** How many hints are posted with one doorbell. */
    private static final int HINTS_AT_ONCE = 8;

    private static final int NONE = -1;
    /** The bytes of each. */
    public static final int HINT_BYTES = ObjectMetadata.EXTENSION_WORDS * Long.BYTES;

    /** Tags of hints; those of requests are their places. */
    static final long HINT_TAG = 1L << 32;
    /** The tag of the READ of an index. */
    public static final long INDEX_TAG = 1L << 31;
    /** Added to the place in the tag of a READ that the request can do without. */
    public static final long HEAD_TAG = 1L << 30;
    /**
     * Bits in the tags of a request's compare-and-swap and of its WRITE. If their connection fails, their outcome may
     * be unknown, which matters; a READ is only repeated.
     */
    public static final long SWAP_TAG = 1L << 29;

    public static final long WRITE_TAG = 1L << 28;
    /** A bit in the tag of a mark. */
    public static final long MARK_TAG = 1L << 27;
    /** The part of a request's tag that is its place. */
    public static final long PLACE_MASK = MARK_TAG - 1;

    /** The length of a hint that sets {@link SlotWord#withPointers} in a slot's word. */
    private static final int SETS_POINTERS = -1;

    private final DeepQueue queue;
    private final ReachableRegions reach;
    private final SpaceMemory space;
    private final RequestColumns operations;
    private final RegisteredBuffer memory;
    /** For each hint the bytes that it writes, or the place where the old value of its addition lands. */
    private final RegisteredBuffer hints;

    private final long hintsAddress;
    /** Of a hint that writes into a block: the era in which it began. */
    private final AtomicLongArray hintEras = new AtomicLongArray(HINTS);

    /** The oldest era of operations that may take effect late. */
    private volatile long keptEra = Long.MAX_VALUE;

    private final PointerCache pointers;
    // Of a hint that sets pointers in a slot's word, by number: the word, 0 for other hints; hash, slot and era.
    private final long[] hintWords = new long[HINTS];
    private final long[] hintHashes = new long[HINTS];
    private final int[] hintSlots = new int[HINTS];
    private final boolean[] hintExpires = new boolean[HINTS];
    private final long[] hintSeen = new long[HINTS];

    private final int[] freeHints = new int[HINTS];
    private int freeHintCount = HINTS;

    // Hints that wait to be posted together.
    private final int[] waitingHintNumbers = new int[HINTS_AT_ONCE];
    private final RemoteRegion[] hintRegions = new RemoteRegion[HINTS_AT_ONCE];
    private final long[] hintOffsets = new long[HINTS_AT_ONCE];
    private final int[] hintLengths = new int[HINTS_AT_ONCE];
    private final long[] hintDeltas = new long[HINTS_AT_ONCE];
    private int waitingHints;
    private long skippedHints;
    private int lists;
    /** Whether the step's list writes the block that its compare-and-swap names. */
    private boolean naming;

    public RequestPoster(
            DeepQueue queue,
            SpaceMemory space,
            RequestColumns operations,
            RegisteredBuffer memory,
            RegisteredBuffer hints,
            PointerCache pointers) {
        this.pointers = pointers;
        this.queue = queue;
        this.reach = new ReachableRegions(space, queue.reconnects());
        this.space = space;
        this.operations = operations;
        this.memory = memory;
        this.hints = hints;
        this.hintsAddress = hints.segment().address();
        for (int i = 0; i < HINTS; i++) {
            freeHints[i] = i;
        }
    }

    /** The most postings of one step of a request; with an extension, the heads of a sample's blocks are among them. */
    public static int mostOfAStep(int extensionWords) {
        return extensionWords == 0 ? MOST_OF_A_STEP : RequestColumns.SAMPLE_HEADS;
    }

    /** Begins a list: postings until {@link #endList} go with one doorbell. */
    public void beginList() {
        if (lists++ == 0) {
            queue.beginList();
        }
    }

    /** Ends a list. If lists are nested, the outermost is posted. */
    public void endList() {
        if (--lists == 0) {
            queue.postList();
        }
    }

    /** Reads the bucket of a request's key. */
    public void readBucket(int place) {
        operations.asked[place] = pointers.time();
        long hash = operations.hash[place];
        SpaceShape shape = space.shape();
        note(
                place,
                queue.executeRead(
                        bucketRegion(hash),
                        shape.bucketAt(hash),
                        memory,
                        RequestColumns.bucketAt(place),
                        SpaceShape.BUCKET_BYTES,
                        place));
    }

    /**
     * Reads adjacent buckets, to find an object to evict.
     *
     * @param behind how many other buckets they are placed behind
     */
    public void readSample(int place, int region, int bucket, int buckets, int behind) {
        note(
                place,
                queue.read(
                        space.region(region),
                        space.shape().bucketAt(bucket),
                        memory,
                        RequestColumns.sampleAt(place) + (long) behind * SpaceShape.BUCKET_BYTES,
                        buckets * SpaceShape.BUCKET_BYTES,
                        place));
    }

    /**
     * Reads the block that a word names.
     *
     * @return false if it names no possible block
     */
    public boolean readBlock(int place, long word, RegisteredBuffer into, long at) {
        long block = SlotWord.place(word);
        int units = SlotWord.units(word);
        if (!space.holdsBlock(word)) {
            return false;
        }
        note(
                place,
                queue.executeRead(
                        space.regionOf(block), space.offsetOf(block), into, at, units * BlockFormat.UNIT_BYTES, place));
        return true;
    }

    /** As {@link #readBlock}, into the request's own memory. */
    public boolean readBlock(int place, long word) {
        return readBlock(place, word, memory, RequestColumns.blockAt(place));
    }

    /**
     * Reads the words before the key of the block that a word names.
     *
     * @return false if it names no possible block
     */
    public boolean readHead(int place, long word, long at, int extensionWords) {
        long block = SlotWord.place(word);
        if (!space.holdsBlock(word)) {
            return false;
        }
        note(
                place,
                queue.read(
                        space.regionOf(block),
                        space.offsetOf(block),
                        memory,
                        at,
                        BlockFormat.HEADER_BYTES + extensionWords * Long.BYTES,
                        place));
        return true;
    }

    /**
     * Reads the first bytes of the block that a word names, at most all of it.
     *
     * @return false if it names no possible block
     */
    public boolean readStart(int place, long word, long at, int bytes) {
        long block = SlotWord.place(word);
        int units = SlotWord.units(word);
        if (!space.holdsBlock(word)) {
            return false;
        }
        int most = Math.min(bytes, units * BlockFormat.UNIT_BYTES);
        note(place, queue.executeRead(space.regionOf(block), space.offsetOf(block), memory, at, most, place));
        return true;
    }

    /**
     * Reads the first bytes of the block that the request's word names, to {@link RequestColumns#head}.
     *
     * @param bytes those of a header at least
     * @return false if it names no possible block; the head then has an incarnation that no block has
     */
    public boolean readHeader(int place, int bytes) {
        NativeMemory.ALL.set(JAVA_LONG, operations.head(place), 0);
        return readStart(place, operations.word[place], RequestColumns.headAt(place), bytes);
    }

    /**
     * Reads the first bytes of the block that the request's word names, to {@link RequestColumns#head}, if the request
     * can do without them: if they cannot be read, the head has an incarnation that no block has.
     */
    public void readReplaced(int place, int bytes) {
        NativeMemory.ALL.set(JAVA_LONG, operations.head(place), 0);
        long word = operations.word[place];
        long block = SlotWord.place(word);
        int units = SlotWord.units(word);
        if (!space.holdsBlock(word)) {
            return;
        }
        int posting = queue.read(
                space.regionOf(block),
                space.offsetOf(block),
                memory,
                RequestColumns.headAt(place),
                Math.min(bytes, units * BlockFormat.UNIT_BYTES),
                HEAD_TAG | place);
        if (posting == PostResult.OK) {
            operations.pending[place]++;
        }
    }

    /** The READ of {@link #readReplaced} has ended. */
    public void readReplacedEnded(int place, boolean read) {
        if (!read) {
            NativeMemory.ALL.set(JAVA_LONG, operations.head(place), 0);
        }
        operations.ended(place, false);
    }

    /** Writes a request's block, of which so many bytes are used, to its place. */
    public void writeBlock(int place, int bytes) {
        long block = SlotWord.place(operations.block[place]);
        note(
                place,
                queue.write(
                        space.regionOf(block),
                        space.offsetOf(block),
                        memory,
                        RequestColumns.blockAt(place),
                        bytes,
                        WRITE_TAG | place));
    }

    /** Writes a piece of a request's value to its place. */
    public void writePiece(int place, long word, RegisteredBuffer from, long at, int bytes) {
        long block = SlotWord.place(word);
        note(place, queue.write(space.regionOf(block), space.offsetOf(block), from, at, bytes, WRITE_TAG | place));
    }

    /**
     * Reads an index that belongs to no request.
     *
     * @return the result of the posting
     */
    public int readIndex(long word, RegisteredBuffer into) {
        long block = SlotWord.place(word);
        return queue.read(
                space.regionOf(block),
                space.offsetOf(block),
                into,
                0,
                SlotWord.units(word) * BlockFormat.UNIT_BYTES,
                INDEX_TAG);
    }

    /**
     * Changes the word of a slot of the request's bucket; its old word lands in {@link #found}. When all of the step
     * has come back, {@link #swapAgain} says whether this must be repeated.
     */
    public void swap(int place, int slot, long expected, long value) {
        long hash = operations.hash[place];
        swap(place, bucketRegion(hash), space.shape().bucketAt(hash), slot, expected, value);
    }

    /**
     * Writes the request's block, and changes the word of the request's slot from the request's word to the block's, in
     * one list: a connection executes the compare-and-swap behind the WRITEs and the mark. The word must have pointers,
     * and its block must be one that {@link #mayMark}. As of {@link #swap}, but {@link #heldBack} also until the block
     * is written, if that is on another server than the slot.
     *
     * @param bytes of the block that are used
     */
    public void writeAndSwap(int place, int bytes) {
        operations.marked[place] = SlotWord.EMPTY;
        // In between no other thread can replace a connection.
        queue.enter();
        beginList();
        naming = true;
        try {
            writeBlock(place, bytes);
            writeHash(place, operations.slot[place]);
            swap(place, operations.slot[place], operations.word[place], operations.block[place]);
        } finally {
            naming = false;
            endList();
            queue.exit();
        }
    }

    /** Whether the block of a word with pointers can be marked. */
    public boolean mayMark(long word) {
        return space.holdsBlock(word) && !space.isGone(space.serverOf(word)) && reach.block(word);
    }

    /** Changes the word of a slot of any bucket. */
    public void swap(int place, RemoteRegion region, long bucketAt, int slot, long expected, long value) {
        operations.takes(place, expected);
        operations.naming[place] = SlotWord.isLive(value);
        if (operations.naming[place]) {
            // A request that cannot empty a slot may continue with others of the bucket that it has read before.
            operations.asked[place] = pointers.time();
        }
        // If it is not executed, the old word differs from the expected one.
        NativeMemory.ALL.set(JAVA_LONG, operations.old(place), ~expected);
        operations.heldBack[place] = false;
        long offset = bucketAt + Slot.offset(slot);
        if (SlotWord.hasPointers(expected) && operations.marked[place] != expected) {
            markAndSwap(place, region, offset, expected, value);
        } else {
            note(
                    place,
                    queue.compareAndSwap(
                            region, offset, expected, value, memory, RequestColumns.oldAt(place), SWAP_TAG | place));
        }
    }

    /**
     * Marks the block that a word names before the word is changed, as clients may keep pointers to it. Both go
     * together if one connection executes them, which it does in this order. Else the compare-and-swap is held back
     * until the mark has come back. What cannot be marked is not changed, unless no client can read it by a pointer.
     */
    private void markAndSwap(int place, RemoteRegion region, long offset, long expected, long value) {
        if (!space.holdsBlock(expected) || space.isGone(space.serverOf(expected))) {
            if (space.mayBeRead(expected)) {
                operations.troubles(place, RequestColumns.REFUSED);
                operations.lost[place] = true;
            } else if (naming) {
                operations.marked[place] = expected;
                operations.heldBack[place] = true;
            } else {
                operations.marked[place] = expected;
                note(
                        place,
                        queue.compareAndSwap(
                                region,
                                offset,
                                expected,
                                value,
                                memory,
                                RequestColumns.oldAt(place),
                                SWAP_TAG | place));
            }
            return;
        }
        if (naming && operations.lost[place]) {
            // The new block cannot be written: the old one is not marked for that.
            return;
        }
        RemoteRegion blocks = space.regionOf(SlotWord.place(expected));
        // In between no other thread can replace a connection.
        queue.enter();
        try {
            int marking = mark(place, blocks, expected);
            note(place, marking);
            if (marking != PostResult.OK) {
                return;
            }
            operations.marked[place] = expected;
            boolean waits = blocks.server() != region.server() || naming && !mayFollowBlock(place, region);
            int posting = waits || queue.waiting()
                    ? PostResult.FULL
                    : queue.compareAndSwapNow(
                            region, offset, expected, value, memory, RequestColumns.oldAt(place), SWAP_TAG | place);
            if (posting == PostResult.FULL) {
                operations.heldBack[place] = true;
            } else {
                note(place, posting);
            }
        } finally {
            queue.exit();
        }
    }

    /** Whether the connection to a region's server executes what is posted now behind the WRITE of the block. */
    private boolean mayFollowBlock(int place, RemoteRegion region) {
        return !operations.lost[place]
                && space.regionOf(SlotWord.place(operations.block[place])).server() == region.server();
    }

    private int mark(int place, RemoteRegion blocks, long word) {
        int incarnation = SlotWord.incarnation(word);
        return queue.compareAndSwap(
                blocks,
                space.offsetOf(SlotWord.place(word)),
                BlockFormat.live(incarnation),
                BlockFormat.marked(incarnation),
                memory,
                RequestColumns.oldAt(place) + 2 * Long.BYTES,
                MARK_TAG | place);
    }

    /** The outcome of a request's mark is not known: it may be executed until connections are fenced. */
    public void markLost(int place) {
        operations.marked[place] = SlotWord.EMPTY;
        keepEra(operations.era(place));
    }

    /** Whether the last {@link #swap} of a request was held back for its mark, and must be repeated. */
    public boolean heldBack(int place) {
        return operations.heldBack[place];
    }

    /**
     * Whether the last {@link #swap} of a request must be repeated: it was held back for its mark, or clients may keep
     * pointers to the block since the word was read.
     *
     * @param expected as it was passed
     * @return the word to expect then; {@link SlotWord#EMPTY} if it need not be repeated
     */
    public long swapAgain(int place, long expected) {
        if (operations.heldBack[place]) {
            return expected;
        }
        long found = found(place);
        return found != expected && SlotWord.isSame(found, expected) ? found : SlotWord.EMPTY;
    }

    /** Whether the block of a live word can be marked, if it must be before the word is changed. */
    public boolean mayTakeOut(long word) {
        if (!SlotWord.hasPointers(word)) {
            return true;
        }
        return space.holdsBlock(word) && !space.isGone(space.serverOf(word))
                ? reach.block(word)
                : !space.mayBeRead(word);
    }

    /** The old word that the last {@link #swap} of a request found. */
    public long found(int place) {
        return NativeMemory.ALL.get(JAVA_LONG, operations.old(place));
    }

    /** Fills in the words that {@link #writeMetadata} writes. */
    public void fillMetadata(int place, long expirySeconds, ObjectMetadata object) {
        long hash = operations.hash[place];
        long at = operations.metadata(place) - Slot.HASH;
        NativeMemory.ALL.set(JAVA_LONG, at + Slot.HASH, SlotWord.besideHash(operations.block[place], hash));
        NativeMemory.ALL.set(JAVA_INT, at + Slot.FREQUENCY, (int) Math.min(object.frequency(), Slot.MOST_FREQUENCY));
        NativeMemory.ALL.set(JAVA_INT, at + Slot.EXPIRY, (int) expirySeconds);
        NativeMemory.ALL.set(JAVA_LONG, at + Slot.INSERTED, object.insertTime());
        NativeMemory.ALL.set(JAVA_LONG, at + Slot.ACCESSED, object.lastAccess());
    }

    /**
     * Writes the hash of the request's key behind the word of a slot, for the time from which on the slot names the
     * request's block.
     */
    public void writeHash(int place, int slot) {
        long hash = operations.hash[place];
        writeHash(place, bucketRegion(hash), space.shape().bucketAt(hash), slot, hash);
    }

    /** The same for a slot of any bucket, and the hash of the key of the request's block. */
    public void writeHash(int place, RemoteRegion region, long bucketAt, int slot, long hash) {
        NativeMemory.ALL.set(JAVA_LONG, operations.metadata(place), SlotWord.besideHash(operations.block[place], hash));
        operations.described[place] = true;
        note(
                place,
                queue.write(
                        region,
                        bucketAt + Slot.offset(slot) + Slot.HASH,
                        memory,
                        RequestColumns.metadataAt(place),
                        Long.BYTES,
                        WRITE_TAG | place));
    }

    /** Writes the metadata behind the word of a slot that the request is about to fill. */
    public void writeMetadata(int place, int slot) {
        long hash = operations.hash[place];
        operations.described[place] = true;
        note(
                place,
                queue.write(
                        bucketRegion(hash),
                        space.shape().bucketAt(hash) + Slot.offset(slot) + Slot.HASH,
                        memory,
                        RequestColumns.metadataAt(place),
                        Slot.METADATA_BYTES,
                        WRITE_TAG | place));
    }

    /** Adds to a counter; its old value lands in {@link #counted}. */
    public void add(int place, RemoteRegion region, long offset, long delta) {
        note(place, queue.fetchAndAdd(region, offset, delta, memory, RequestColumns.oldAt(place) + Long.BYTES, place));
    }

    public long counted(int place) {
        return NativeMemory.ALL.get(JAVA_LONG, operations.old(place) + Long.BYTES);
    }

    /** A hint: writes 8 bytes; no request waits for it. */
    public void hintWrite(RemoteRegion region, long offset, long value) {
        int hint = takeHint();
        if (hint != NONE) {
            NativeMemory.ALL.set(JAVA_LONG, hintsAddress + (long) hint * HINT_BYTES, value);
            hint(hint, region, offset, Long.BYTES, 0);
        }
    }

    /** A hint: writes the expiry of the slot of a request's key. */
    public void hintExpiry(int place, int slot, long seconds) {
        int hint = takeHint();
        if (hint != NONE) {
            NativeMemory.ALL.set(JAVA_INT, hintsAddress + (long) hint * HINT_BYTES, (int) seconds);
            long hash = operations.hash[place];
            long offset = space.shape().bucketAt(hash) + Slot.offset(slot) + Slot.EXPIRY;
            hint(hint, bucketRegion(hash), offset, Integer.BYTES, 0);
        }
    }

    /** A hint: writes the extension of the block that a word names. */
    public void hintWriteExtension(long word, ObjectMetadata object, int words) {
        int hint = takeHint();
        if (hint == NONE) {
            return;
        }
        for (int i = 0; i < words; i++) {
            NativeMemory.ALL.set(
                    JAVA_LONG, hintsAddress + (long) hint * HINT_BYTES + (long) i * Long.BYTES, object.extension(i));
        }
        long block = SlotWord.place(word);
        // A request in flight has read the word.
        hintEras.set(hint, operations.oldestEra());
        long offset = BlockFormat.extensionAt(space.offsetOf(block));
        // This hint is posted at once: until it has ended, no segment is used again.
        postHint(hint, space.regionOf(block), offset, words * Long.BYTES, 0);
    }

    /** A hint: adds to 8 bytes. */
    public void hintAdd(RemoteRegion region, long offset, long delta) {
        int hint = takeHint();
        if (hint != NONE) {
            hint(hint, region, offset, 0, delta);
        }
    }

    /**
     * A hint: says in the slot of a request's key that clients may keep pointers to its block, and keeps one when that
     * is done. What is known of the accesses has been noted.
     *
     * @param expires whether the slot may have an expiry
     */
    public void hintPointers(int place, int slot, boolean expires, long word) {
        for (long underWay : hintWords) {
            if (underWay == word) {
                return;
            }
        }
        int hint = takeHint();
        if (hint == NONE) {
            return;
        }
        long hash = operations.hash[place];
        hintWords[hint] = word;
        hintHashes[hint] = hash;
        hintSlots[hint] = slot;
        hintExpires[hint] = expires;
        hintSeen[hint] = operations.era(place);
        hint(hint, bucketRegion(hash), space.shape().bucketAt(hash) + Slot.offset(slot), SETS_POINTERS, 0);
    }

    private int takeHint() {
        if (freeHintCount == 0) {
            skippedHints++;
            return NONE;
        }
        return freeHints[--freeHintCount];
    }

    /**
     * Posts a hint in the list that is being made, if there is one. Else it waits for others, as a doorbell costs more
     * than the hint: until there are {@link #HINTS_AT_ONCE}, or the session has nothing else to do
     * ({@link #postHints}).
     *
     * @param bytes to write; 0 if a delta is to be added, {@link #SETS_POINTERS} of that kind
     */
    private void hint(int hint, RemoteRegion region, long offset, int bytes, long delta) {
        if (lists > 0) {
            // Hints that wait go first, as the last write of a slot must be the right one.
            postHints();
            postHint(hint, region, offset, bytes, delta);
            return;
        }
        hintRegions[waitingHints] = region;
        hintOffsets[waitingHints] = offset;
        hintLengths[waitingHints] = bytes;
        hintDeltas[waitingHints] = delta;
        waitingHintNumbers[waitingHints++] = hint;
        if (waitingHints == HINTS_AT_ONCE) {
            postHints();
        }
    }

    /** Posts hints that wait. */
    public void postHints() {
        if (waitingHints == 0) {
            return;
        }
        beginList();
        for (int i = 0; i < waitingHints; i++) {
            postHint(waitingHintNumbers[i], hintRegions[i], hintOffsets[i], hintLengths[i], hintDeltas[i]);
        }
        waitingHints = 0;
        endList();
    }

    private void postHint(int hint, RemoteRegion region, long offset, int bytes, long delta) {
        long at = (long) hint * HINT_BYTES;
        long tag = HINT_TAG | hint;
        int posting =
                switch (bytes) {
                    case 0 -> queue.fetchAndAdd(region, offset, delta, hints, at, tag);
                    case SETS_POINTERS -> {
                        long word = hintWords[hint];
                        yield queue.compareAndSwap(region, offset, word, SlotWord.withPointers(word), hints, at, tag);
                    }
                    default -> queue.write(region, offset, hints, at, bytes, tag);
                };
        if (posting != PostResult.OK) {
            hintEnded(hint, Outcome.NOT_POSTED);
            skippedHints++;
        }
    }

    /** As {@link RequestColumns#oldestEra}, for hints that write into blocks. Any thread. */
    public long oldestEra() {
        long oldest = keptEra;
        for (int hint = 0; hint < HINTS; hint++) {
            long one = hintEras.get(hint);
            oldest = one == 0 ? oldest : Math.min(oldest, one);
        }
        return oldest;
    }

    /**
     * @param outcome one of {@link Outcome}; if it is unknown, the hint may still take effect, perhaps in a block that
     *     must not be used again before it no longer can
     */
    public void hintEnded(long tag, int outcome) {
        int hint = (int) tag;
        if (outcome == Outcome.UNKNOWN && hintEras.get(hint) != 0) {
            keepEra(hintEras.get(hint));
        }
        long word = hintWords[hint];
        hintWords[hint] = SlotWord.EMPTY;
        if (word != SlotWord.EMPTY
                && outcome == Outcome.DONE
                && SlotWord.isSame(NativeMemory.ALL.get(JAVA_LONG, hintsAddress + (long) hint * HINT_BYTES), word)) {
            pointers.keepNoted(
                    hintHashes[hint], SlotWord.withPointers(word), hintSlots[hint], hintExpires[hint], hintSeen[hint]);
        }
        hintEras.setRelease(hint, 0);
        freeHints[freeHintCount++] = hint;
    }

    /**
     * An operation that began in an era may take effect until all connections are made again, or their leases have
     * ended.
     */
    public void keepEra(long era) {
        if (!reach.fenced() && era != 0 && era < keptEra) {
            keptEra = era;
        }
    }

    /** All connections stand. */
    public void fenced() {
        keptEra = Long.MAX_VALUE;
    }

    /** Which regions the session has connections to. */
    public ReachableRegions reach() {
        return reach;
    }

    /** Hints under way. */
    int hintsInFlight() {
        return HINTS - freeHintCount;
    }

    long skippedHints() {
        return skippedHints;
    }

    /** The region that has the bucket of a key. */
    RemoteRegion bucketRegion(long hash) {
        return space.region(space.shape().bucketRegion(hash));
    }

    private void note(int place, int posting) {
        switch (posting) {
            case PostResult.OK -> operations.pending[place]++;
            case PostResult.DONE -> {}
            // Also the result for a region that was given back.
            case PostResult.LOST, PostResult.INVALID -> operations.lost[place] = true;
            default ->
                throw new IllegalStateException("an operation of a map's was refused: " + PostResult.describe(posting));
        }
    }
}
