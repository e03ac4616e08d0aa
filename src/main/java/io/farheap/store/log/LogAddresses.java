package io.farheap.store.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where the parts of a log begin, as addresses: <code>begin &lt;= head &lt;= safeReadOnly &lt;= readOnly &lt;=
 * tail</code>. From {@code begin} to {@code head} records are on the device alone; to {@code readOnly} they are in
 * memory and are copied to be updated; from there on they are updated in place. {@code safeReadOnly} follows
 * {@code readOnly} when nobody updates below it any more: between the two a read-modify-write waits, since another
 * session may still change in place what it would copy.
 *
 * <p>All but the tail are stored by the log's thread and read inside an epoch.
 */
public final class LogAddresses {

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    private static final int BEGIN = 16;
    private static final int HEAD = 17;
    private static final int SAFE_READ_ONLY = 18;
    private static final int READ_ONLY = 19;

    private final long[] words = new long[48];

    LogAddresses(long first) {
        words[BEGIN] = first;
        words[HEAD] = first;
        words[SAFE_READ_ONLY] = first;
        words[READ_ONLY] = first;
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
