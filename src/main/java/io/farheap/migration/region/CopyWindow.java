package io.farheap.migration.region;

/**
 * How far ahead of the copy writes are held: as little as keeps the copier busy from one look at it to the next. It
 * doubles when the copier has run out of work, and shrinks by a chunk after some looks at which it had plenty.
 */
final class CopyWindow {

    private static final int FIRST_CHUNKS = 4;
    private static final int PLENTY_LOOKS = 16;

    private final long chunk;
    private final long most;
    private long bytes;
    private int plenty;

    /**
     * A window of whole chunks.
     *
     * @param most bytes, at least {@code chunk}
     */
    CopyWindow(long chunk, long most) {
        this.chunk = chunk;
        this.most = most - most % chunk;
        this.bytes = Math.min(this.most, FIRST_CHUNKS * chunk);
    }

    long bytes() {
        return bytes;
    }

    /**
     * Adapts the window.
     *
     * @param ahead bytes that the copier still had to copy
     */
    void adapt(long ahead) {
        if (ahead == 0) {
            bytes = Math.min(most, 2 * bytes);
            plenty = 0;
        } else if (ahead > bytes / 2 && bytes > 2 * chunk && ++plenty == PLENTY_LOOKS) {
            bytes -= chunk;
            plenty = 0;
        }
    }
}
