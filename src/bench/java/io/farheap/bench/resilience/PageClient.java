package io.farheap.bench.resilience;

import io.farheap.resilience.CodedStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A client of what keeps whole pages alone: a part is read by reading its page, and written by reading its page,
 * changing it and writing it. One thread.
 */
abstract class PageClient implements FarClient {

    private static final int ALIGNMENT = 64;

    private final Arena arena = Arena.ofConfined();
    private final int pageBytes;
    private final MemorySegment memory;
    /** The page that a part is of. */
    private final MemorySegment whole;

    private Access access = new Access(false, 0);
    private int page;
    private int at;
    private boolean storing;
    private boolean ended = true;
    private int status;

    PageClient(int pageBytes) {
        this.pageBytes = pageBytes;
        this.memory = arena.allocate(pageBytes, ALIGNMENT);
        this.whole = arena.allocate(pageBytes, ALIGNMENT);
    }

    /** Begins to read a page. */
    abstract void fetch(int number, MemorySegment into);

    /** Begins to write a page, which stays as it is until that has ended. */
    abstract void store(int number, MemorySegment from);

    /** Makes progress; whether what was begun last has ended. */
    abstract boolean step();

    /** Of what has ended: one of {@link CodedStatus}. */
    abstract int result();

    @Override
    public final MemorySegment memory() {
        return memory;
    }

    @Override
    public final void begin(Access what, long address) {
        access = what;
        page = (int) (address / pageBytes);
        at = (int) (address % pageBytes);
        ended = false;
        boolean part = access.bytes() < pageBytes;
        storing = access.write() && !part;
        if (storing) {
            store(page, memory);
        } else {
            fetch(page, part ? whole : memory);
        }
    }

    @Override
    public final boolean ended() {
        if (!ended && step()) {
            next();
        }
        return ended;
    }

    private void next() {
        status = result();
        if (status == CodedStatus.OK && !storing) {
            if (access.write()) {
                MemorySegment.copy(memory, 0, whole, at, access.bytes());
                storing = true;
                store(page, whole);
                return;
            }
            if (access.bytes() < pageBytes) {
                MemorySegment.copy(whole, at, memory, 0, access.bytes());
            }
        }
        ended = true;
    }

    @Override
    public final int status() {
        return status;
    }

    @Override
    public void close() {
        arena.close();
    }
}
