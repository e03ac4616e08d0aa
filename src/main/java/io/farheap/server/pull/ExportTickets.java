package io.farheap.server.pull;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tickets that are neither used nor revoked; at most one for each granted region. Thread-safe.
 *
 * @param <E> the type that represents an exported region
 */
public final class ExportTickets<E> {

    private final SecureRandom random = new SecureRandom();
    private final Map<String, ExportTicket<E>> open = new ConcurrentHashMap<>();
    private final long validNanos;

    public ExportTickets(long validNanos) {
        this.validNanos = validNanos;
    }

    public long validNanos() {
        return validNanos;
    }

    ExportTicket<E> issue(E export) {
        byte[] token = new byte[ControlPlane.TOKEN_BYTES];
        random.nextBytes(token);
        ExportTicket<E> ticket = new ExportTicket<>(token, export, System.nanoTime() + validNanos);
        open.put(ticket.key(), ticket);
        return ticket;
    }

    /** Takes the ticket of a token, which is used by that. */
    public ExportTicket<E> redeem(byte[] token) {
        ExportTicket<E> ticket = open.remove(HexFormat.of().formatHex(token));
        if (ticket == null) {
            throw new ControlException(
                    Code.TICKET_REFUSED,
                    "the ticket is unknown, used, replaced by a newer one, or its region was given back; export the region again");
        }
        if (System.nanoTime() - ticket.deadline > 0) {
            throw new ControlException(
                    Code.TICKET_REFUSED,
                    "the ticket was to be opened within " + validNanos / 1_000_000
                            + " ms and came too late; export the region again");
        }
        return ticket;
    }

    void remove(ExportTicket<E> ticket) {
        open.remove(ticket.key(), ticket);
    }
}
