package io.farheap.store.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The marks of a log, the addresses at which its parts begin: <code>begin &lt;= head &lt;= safeReadOnly &lt;= readOnly
 * &lt;= tail</code>. Records from {@code begin} to {@code head} are on the device alone. Records from {@code head} to
 * {@code readOnly} are in memory, and an update copies them to the tail. Records from {@code readOnly} on are updated
 * in place. {@code safeReadOnly} follows {@code readOnly} once no session updates in place below it any more. Between
 * the two a read-modify-write waits, since another session may still change the record that it would copy.
 *
 * <p>The device keeps the log from {@code kept} on, which is at most {@code begin}, and less if a checkpoint needs
 * more.
 *
 * <p>The log's thread stores {@code head}, {@code safeReadOnly} and {@code readOnly}; the thread that compacts stores
 * {@code begin}, and {@code kept} once the device has given the log below back. Sessions read them inside an epoch.
 */
public final class LogAddresses {

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    private static final int BEGIN = 16;
    private static final int HEAD = 17;
    private static final int SAFE_READ_ONLY = 18;
    private static final int READ_ONLY = 19;
    private static final int KEPT = 20;

    private final long[] words = new long[48];

    LogAddresses(long first, long kept) {
        words[BEGIN] = first;
        words[HEAD] = first;
        words[SAFE_READ_ONLY] = first;
        words[READ_ONLY] = first;
        words[KEPT] = kept;
    }

    public long kept() {
        return (long) WORD.getAcquire(words, KEPT);
    }

    void kept(long address) {
        WORD.setRelease(words, KEPT, address);
    }

    public long begin() {
        return (long) WORD.getAcquire(words, BEGIN);
    }

    public void begin(long address) {
        WORD.setRelease(words, BEGIN, address);
    }

    public long head() {
        return (long) WORD.getAcquire(words, HEAD);
    }

    void head(long address) {
        WORD.setRelease(words, HEAD, address);
    }

    public long safeReadOnly() {
        return (long) WORD.getAcquire(words, SAFE_READ_ONLY);
    }

    void safeReadOnly(long address) {
        WORD.setRelease(words, SAFE_READ_ONLY, address);
    }

    public long readOnly() {
        return (long) WORD.getAcquire(words, READ_ONLY);
    }

    void readOnly(long address) {
        WORD.setRelease(words, READ_ONLY, address);
    }
}
