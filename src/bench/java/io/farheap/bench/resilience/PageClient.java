package io.farheap.bench.resilience;

import io.farheap.resilience.contract.CodedStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A client of memory that stores whole pages only: a part is read by reading its page, and written by reading its page,
 * changing it and writing it. One thread.
 */
abstract class PageClient implements FarMemoryClient {

    private static final int ALIGNMENT = 64;

    private final Arena arena = Arena.ofConfined();
    private final int pageBytes;
    private final MemorySegment memory;
    /** The page that contains the part. */
    private final MemorySegment whole;

    private RequestKind access = new RequestKind(false, 0);
    /** The destination of the page that is being read. */
    private MemorySegment reading;

    private int page;
    private int at;
    private boolean storing;
    private boolean ended = true;
    private int status;

    PageClient(int pageBytes) {
        this(pageBytes, null);
    }

    /** @param pages memory for two pages; null if any memory will do */
    PageClient(int pageBytes, @Nullable MemorySegment pages) {
        MemorySegment both = pages == null ? arena.allocate(2L * pageBytes, ALIGNMENT) : pages;
        this.pageBytes = pageBytes;
        this.memory = both.asSlice(0, pageBytes);
        this.whole = both.asSlice(pageBytes, pageBytes);
        this.reading = memory;
    }

    /** Begins to read a page. */
    abstract void fetch(int number, MemorySegment into);

    /** Returns the page that was fetched; valid until the next request. */
    MemorySegment fetched(MemorySegment into) {
        return into;
    }

    /** Begins to write a page, which must not change until the write has ended. */
    abstract void store(int number, MemorySegment from);

    /** Makes progress, and returns whether the last operation has ended. */
    abstract boolean step();

    /** Returns the status of the ended operation, one of {@link CodedStatus}. */
    abstract int result();

    @Override
    public final MemorySegment memory() {
        return memory;
    }

    @Override
    public final MemorySegment found() {
        return access.bytes() < pageBytes ? memory : fetched(reading);
    }

    @Override
    public final void begin(RequestKind what, long address) {
        access = what;
        page = (int) (address / pageBytes);
        at = (int) (address % pageBytes);
        ended = false;
        boolean part = access.bytes() < pageBytes;
        storing = access.write() && !part;
        if (storing) {
            store(page, memory);
        } else {
            reading = part ? whole : memory;
            fetch(page, reading);
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
            MemorySegment fetched = fetched(whole);
            if (access.write()) {
                if (fetched != whole) {
                    MemorySegment.copy(fetched, 0, whole, 0, pageBytes);
                }
                MemorySegment.copy(memory, 0, whole, at, access.bytes());
                storing = true;
                store(page, whole);
                return;
            }
            if (access.bytes() < pageBytes) {
                MemorySegment.copy(fetched, at, memory, 0, access.bytes());
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
