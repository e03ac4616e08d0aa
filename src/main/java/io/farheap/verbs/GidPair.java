package io.farheap.verbs;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The entries of both ends by which a connection is addressed. Each end offers the other its entries. The end that
 * answers chooses, and its answer names the other end's entry beside its own. Two ends that both know only the other's
 * list, since neither has answered, choose the same pair.
 */
record GidPair(GidEntry own, GidEntry peer) {

    private static final int IMPOSSIBLE = -1;
    /** The score of a link-local address with one that is not: behind all other pairs of RoCEv2, before RoCEv1. */
    private static final int MIXED = 3;

    private static final int SUBNET_PREFIX_BYTES = 8;
    private static final int ALL_BITS = 128;

    /**
     * The best pair of one type and one family, or null if there is none. A pair is as good as the worse of its two
     * entries; if several are equally good, a pair in one network is better, then one that is nearer to the beginnings
     * of the lists. Both ends find the same one.
     */
    static @Nullable GidPair best(List<GidEntry> own, List<GidEntry> peers) {
        GidPair best = null;
        int bestScore = IMPOSSIBLE;
        int bestSum = 0;
        for (int i = 0; i < own.size(); i++) {
            for (int j = 0; j < peers.size(); j++) {
                GidPair pair = new GidPair(own.get(i), peers.get(j));
                int score = pair.score();
                if (score == IMPOSSIBLE || best != null && !pair.isBetter(score, i + j, best, bestScore, bestSum)) {
                    continue;
                }
                best = pair;
                bestScore = score;
                bestSum = i + j;
            }
        }
        return best;
    }

    private boolean isBetter(int score, int sum, GidPair than, int thanScore, int thanSum) {
        if (score != thanScore) {
            return score > thanScore;
        }
        if (inOneNetwork() != than.inOneNetwork()) {
            return inOneNetwork();
        }
        if (sum != thanSum) {
            return sum < thanSum;
        }
        int compared = Arrays.compareUnsigned(lower(), than.lower());
        return compared != 0 ? compared < 0 : Arrays.compareUnsigned(higher(), than.higher()) < 0;
    }

    private byte[] lower() {
        return Arrays.compareUnsigned(own.bytes(), peer.bytes()) <= 0 ? own.bytes() : peer.bytes();
    }

    private byte[] higher() {
        return Arrays.compareUnsigned(own.bytes(), peer.bytes()) <= 0 ? peer.bytes() : own.bytes();
    }

    /** How good the pair is on Ethernet; more is better. An entry of an unknown type is taken for the other's type. */
    private int score() {
        int type = own.type() == GidEntry.UNKNOWN ? peer.type() : own.type();
        boolean sameType = peer.type() == GidEntry.UNKNOWN || peer.type() == type;
        if (!sameType || own.isIpv4() != peer.isIpv4()) {
            return IMPOSSIBLE;
        }
        if (type == GidEntry.ROCE_V2 && own.isLinkLocal() != peer.isLinkLocal()) {
            return MIXED;
        }
        return 2 * Math.min(own.rank(type), peer.rank(type));
    }

    /** If neither length is known, only equal addresses are in one network: two ends of one host. */
    private boolean inOneNetwork() {
        int bits = Math.max(own.networkBits(), peer.networkBits());
        return own.commonBits(peer) >= (bits == 0 ? ALL_BITS : bits);
    }

    /**
     * The pair for a connection of an Ethernet port. A choice of the peer's counts only if this end has offered it its
     * entries.
     *
     * @param own all entries that this end may use, the best first
     * @param offered whether this end has {@linkplain GidEntry#offered offered} the peer its entries; an older peer
     *     knows only the first
     * @throws VerbsException if there is no pair
     */
    static GidPair onEthernet(List<GidEntry> own, boolean offered, Endpoint peer) {
        // An end that chooses has all; one that has offered its entries finds the pair that the peer finds, too.
        List<GidEntry> known = offered ? GidEntry.offered(own) : own;
        if (offered && peer.peerGid().length > 0) {
            return answered(known, peer);
        }
        boolean older = peer.gids().length == 0;
        List<GidEntry> peers =
                older ? List.of(GidEntry.ofPeer(GidEntry.UNKNOWN, peer.gid())) : GidEntry.decode(peer.gids());
        peers = peers.stream().filter(GidEntry::isDestination).toList();
        GidPair pair = best(older && offered ? known.subList(0, 1) : known, peers);
        if (pair == null) {
            throw none(own, known.size(), peers, peer);
        }
        return pair;
    }

    private static GidPair answered(List<GidEntry> own, Endpoint peer) {
        GidEntry mine = GidEntry.decode(peer.peerGid()).stream().findFirst().orElse(null);
        for (GidEntry entry : own) {
            if (mine != null && entry.isSame(mine)) {
                GidEntry theirs = GidEntry.ofPeer(entry.type(), peer.gid());
                if (!theirs.isDestination() || theirs.isIpv4() != entry.isIpv4()) {
                    throw new VerbsException("cannot reach " + peer + ": it sends to " + entry
                            + ", and its own GID is no address of that family; run the same version at both ends");
                }
                return new GidPair(entry, theirs);
            }
        }
        throw new VerbsException(
                "cannot reach " + peer + ": it sends to " + (mine == null ? "a GID of a new type" : mine)
                        + ", and this end has " + GidEntry.list(own) + "; connect again");
    }

    /**
     * The pair for a connection of an InfiniBand port.
     *
     * @throws VerbsException if the peer is in another subnet, or on Ethernet
     */
    static GidPair onInfiniband(List<GidEntry> own, Endpoint peer) {
        GidEntry first = own.getFirst();
        List<GidEntry> peers = GidEntry.decode(peer.gids());
        if (peers.stream().anyMatch(entry -> entry.type() > GidEntry.INFINIBAND)) {
            throw none(own, own.size(), peers, peer);
        }
        // A LID is valid only within its subnet; a router's LID comes from a path query, which needs a subnet
        // administrator.
        if (!Arrays.equals(peer.gid(), 0, SUBNET_PREFIX_BYTES, first.bytes(), 0, SUBNET_PREFIX_BYTES)) {
            throw new VerbsException("cannot reach " + peer + " from " + first
                    + ": they are in different InfiniBand subnets; connect machines of one subnet");
        }
        return new GidPair(first, GidEntry.ofPeer(first.type(), peer.gid()));
    }

    private static VerbsException none(List<GidEntry> own, int known, List<GidEntry> peers, Endpoint peer) {
        return new VerbsException("cannot reach " + peer + ": no GID of this end, which has " + GidEntry.list(own)
                + (known < own.size() ? ", of which it has offered " + known : "")
                + ", is of the same type and address family as one of that end, which has " + GidEntry.list(peers)
                + "; give both ports an IPv4 address, or both an IPv6 address, or choose other GIDs");
    }
}
