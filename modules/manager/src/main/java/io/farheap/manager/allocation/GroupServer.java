package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.List;

/**
 * A memory server as coding groups and placements of coded ranges see it. Immutable.
 *
 * @param id the manager's number for it, which no other server has
 * @param domain its failure domain: servers of one domain may fail together. The address of a server that shares its
 *     domain with no other one
 * @param kind the servers of a group are of one kind, so its slabs have one size and one price
 */
public record GroupServer(long id, String domain, Kind kind) {

    /** @throws IllegalArgumentException if the domain is blank */
    public GroupServer {
        if (domain.isBlank()) {
            throw new IllegalArgumentException("server " + id
                    + " has a blank failure domain; take its address if it shares its domain with no server");
        }
    }

    /** Returns whether one of some servers is in this one's failure domain. */
    boolean sharesDomain(List<GroupServer> others) {
        for (GroupServer other : others) {
            if (other.domain.equals(domain)) {
                return true;
            }
        }
        return false;
    }
}
