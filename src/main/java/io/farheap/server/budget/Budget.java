package io.farheap.server.budget;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.Caller;
import io.farheap.memory.ByteSize;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much of one resource a server lends: in total, to one host, to one client and under one lease. A client gets a
 * quarter at most and a host three quarters, so that neither can take all. Thread-safe.
 */
public final class Budget {

    private static final int CLIENTS = 4;

    /** An amount that was lent. Closing it gives it back, once. */
    public final class Loan implements AutoCloseable {

        private final @Nullable Caller caller;
        private final @Nullable Object lease;
        private final long amount;
        private boolean closed;

        private Loan(@Nullable Caller caller, @Nullable Object lease, long amount) {
            this.caller = caller;
            this.lease = lease;
            this.amount = amount;
        }

        @Override
        public void close() {
            synchronized (Budget.this) {
                if (!closed) {
                    closed = true;
                    add(caller, lease, -amount);
                }
            }
        }
    }

    private final String what;
    private final boolean bytes;
    private final long all;
    private final long host;
    private final long client;
    private final long lease;
    private final String less;
    private final String more;
    /** Lent amounts by host, client and lease; amounts of 0 are removed. */
    private final Map<Object, Long> lent = new HashMap<>();

    private long lentInAll;

    /**
     * A budget.
     *
     * @param what name of the resource for people, in the plural
     * @param bytes whether amounts are bytes
     * @param all the total
     * @param client the share of one client, if that is more than a quarter of the total
     * @param lease the most under one lease
     * @param less how users can need less
     * @param more how users can get a larger total
     */
    Budget(String what, boolean bytes, long all, long client, long lease, String less, String more) {
        this.what = what;
        this.bytes = bytes;
        this.all = all;
        this.client = Math.min(all, Math.max(client, Math.max(1, all / CLIENTS)));
        this.host = Math.max(this.client, all - all / CLIENTS);
        this.lease = Math.min(lease, this.client);
        this.less = less;
        this.more = more;
    }

    /** The total that can be lent. */
    public long all() {
        return all;
    }

    /** The total that is lent now. */
    public synchronized long lent() {
        return lentInAll;
    }

    /** The most that one client gets. */
    public long client() {
        return client;
    }

    /**
     * Lends an amount.
     *
     * @param caller the caller that it is for, or null if it is in this process
     * @param key of the lease that it is for, or null
     * @throws ControlException INVALID_ARGUMENT if that exceeds a limit
     */
    public synchronized Loan lend(@Nullable Caller caller, @Nullable Object key, long amount) {
        check("the lease has ", key, lease, amount);
        if (caller != null) {
            check("the client at " + caller.connection() + " has ", caller.connection(), client, amount);
            // Host and connection are different strings, since a connection includes a port.
            check("the clients of host " + caller.host() + " have ", caller.host(), host, amount);
        }
        if (amount > all - lentInAll) {
            throw refusal(
                    "the server has lent ",
                    lentInAll,
                    amount,
                    "it lends " + counted(all) + " in all, so " + less + ", or " + more);
        }
        add(caller, key, amount);
        return new Loan(caller, key, amount);
    }

    /**
     * As {@link #lend}, for callers that need no reason.
     *
     * @return null if that exceeds a limit
     */
    public synchronized @Nullable Loan tryToLend(@Nullable Caller caller, @Nullable Object key, long amount) {
        if (exceeds(key, lease, amount)
                || caller != null
                        && (exceeds(caller.connection(), client, amount) || exceeds(caller.host(), host, amount))
                || amount > all - lentInAll) {
            return null;
        }
        add(caller, key, amount);
        return new Loan(caller, key, amount);
    }

    private boolean exceeds(@Nullable Object key, long most, long amount) {
        return key != null && amount > most - lent.getOrDefault(key, 0L);
    }

    private void check(String who, @Nullable Object key, long most, long amount) {
        if (exceeds(key, most, amount)) {
            throw refusal(who, lent.getOrDefault(key, 0L), amount, "the most is " + counted(most) + ", so " + less);
        }
    }

    private ControlException refusal(String who, long has, long amount, String rule) {
        return new ControlException(
                Code.INVALID_ARGUMENT,
                who + counted(has) + (bytes ? " of " : " ") + what + ", and " + counted(amount) + " more asked for; "
                        + rule);
    }

    private String counted(long amount) {
        return bytes ? ByteSize.text(amount) : Long.toString(amount);
    }

    private void add(@Nullable Caller caller, @Nullable Object key, long amount) {
        lentInAll += amount;
        count(key, amount);
        if (caller != null) {
            count(caller.connection(), amount);
            count(caller.host(), amount);
        }
    }

    private void count(@Nullable Object key, long amount) {
        if (key != null) {
            lent.merge(key, amount, (has, more) -> has + more == 0 ? null : has + more);
        }
    }
}
