package io.farheap.remote.server;

/**
 * The recovery of one link of an owner, a session or a queue, to one server: when a link that has failed is made again.
 * It decides and does nothing itself: the owner begins to make the link on another thread, which fences the failed one
 * first, and tells the result. Times are those of {@link System#nanoTime}. The owner's thread alone.
 *
 * <pre>
 *           fails             begins, when due              ended(true)
 *   up ------------&gt; down ---------------------&gt; making ------------------&gt; up
 *                     ^                              |
 *                     +------------------------------+
 *                       ended(false): after a back-off
 * </pre>
 *
 * <p>It is made at once, and after a back-off of 5 ms to 1 s if that failed, or if it fails again soon and nothing has
 * made progress over it.
 */
public final class LinkRecovery {

    private final ReconnectBackoff backoff;
    private boolean down;
    private boolean making;
    /** How many attempts in succession to make it again have failed. */
    private int attempts;

    /** @param now for a link that has been good until now */
    public LinkRecovery(long now) {
        backoff = new ReconnectBackoff(now);
    }

    /**
     * The link has failed, or there is none.
     *
     * @return false if that was known
     */
    public boolean fails(long now) {
        if (down) {
            return false;
        }
        down = true;
        backoff.fails(now);
        return true;
    }

    /** Whether the link is down, or being made, as far as is known. */
    public boolean isDown() {
        return down;
    }

    /** Whether it is being made. */
    public boolean isMaking() {
        return making;
    }

    /** Whether it is down and not being made, so that it {@linkplain #begins begins} when it is {@link #due}. */
    public boolean waits() {
        return down && !making;
    }

    /** Whether it waits and may be made again now. */
    public boolean isDue(long now) {
        return waits() && backoff.due(now);
    }

    /** When it may be made again. */
    public long due() {
        return backoff.retryAt();
    }

    /**
     * Begins to make the link, if it is down and due.
     *
     * @return whether the owner has to make it now, and then to call {@link #ended}
     */
    public boolean begins(long now) {
        if (!isDue(now)) {
            return false;
        }
        making = true;
        return true;
    }

    /** The attempt to make it has ended. */
    public void ended(boolean made, long now) {
        making = false;
        attempts = made ? 0 : attempts + 1;
        down &= !made;
        backoff.ended(made, now);
    }

    /** Gives it up: it is not made again, or needs no more proof that it works. */
    public void giveUp() {
        down = false;
        backoff.works();
    }

    /** Something made progress over the link. */
    public void works() {
        backoff.works();
    }

    /** How many attempts in succession to make it again have failed. */
    public int attempts() {
        return attempts;
    }

    /** How often in succession it failed before anything made progress over it. */
    public int inVain() {
        return backoff.inVain();
    }
}
