/**
 * A model of the map's protocol. All interleavings of small scenarios are explored, to see whether the values and the
 * answers that clients receive about a key are linearizable. Begin with {@link io.farheap.kv.model.ModelScenario}, then
 * {@link io.farheap.kv.model.OperationModel}; {@link io.farheap.kv.model.ClientTurn} has what the kinds of operations
 * share, {@link io.farheap.kv.model.ProtocolRule} the rules.
 *
 * <p><b>What is modelled.</b> One bucket of 1 to 4 slots, 1 to 4 blocks, 2 to 4 clients, and two keys of one hash. An
 * access is one step: the READ of one word of a bucket, in any order of the words; the READ of a block's body; the
 * WRITE of a block; one compare-and-swap. Mark and body of a block that a pointer names are READ one by one, in either
 * order. A list of operations on one queue pair is executed in its order, with other clients' accesses between any two.
 * So are mark and compare-and-swap, in one list or in two: the client needs no answer of the first for the second,
 * since a mark that fails changes nothing. A client that <i>stops</i> makes no step for a while. One that <i>dies</i>
 * makes none any more: its operation may have taken effect or not, and nothing waits for it. Blocks are used again,
 * with the next incarnation; after their segment has begun again, with the first one. A block that a client was to free
 * or to name when it died is found by a sweep.
 *
 * <p><b>Pointers.</b> Each client keeps one for each key: after a get by the table, of a slot that says that there may
 * be pointers, or behind a compare-and-swap by which the slot says so; and after a set, if it had one before. A change
 * of a slot that does not say so marks nothing, and fails if the slot says so by then. A set with a pointer swaps the
 * word before it reads anything, or reads the bucket: all scenarios are explored with either.
 *
 * <p><b>Eras and leases.</b> An era begins in each client at any moment, also with a request in flight, and has begun
 * when no request of an older one is in flight, as far as the services see: a get looks at the era in one step, and can
 * be seen by the services in the next. The lease of a client on the table's server may end while it still reads blocks
 * of another server; it may open the map again.
 *
 * <p><b>Without pointers</b> the rules of {@link io.farheap.kv.model.ProtocolRule#OF_TABLE} are enough: all scenarios
 * are explored so too, and each of the two rules is shown to be needed. An update that knows the key by the slot's
 * hash, which is mixed with the slot's word, makes no other access than one that has READ the block's head right before
 * its compare-and-swap. That is not so if a word comes back after its segment has begun again: then the hash that is
 * there may be the former object's, until the new one is written.
 *
 * <p><b>What is more than it can be.</b> If this finds nothing, the map has nothing of that kind either; but a history
 * that it finds may need some of these:
 *
 * <ul>
 *   <li>The hash in a slot may be that of any key, whenever a set looks at it.
 *   <li>An insertion takes any empty slot, as one with an entry of the history counts as empty. A victim is any object.
 *   <li>A claim is removed at once by a request that meets it; see {@link io.farheap.kv.model.SetModel}.
 *   <li>A block that one client takes out is free for all, and a lost one may be found at once.
 *   <li>A pointer is kept whatever the block's mark was. It may prove to an update which key a block has.
 * </ul>
 *
 * <p><b>What is left out.</b>
 *
 * <ul>
 *   <li>Torn bodies: the checksum shows them. A WRITE of a block is one step: before a slot names the block, a reader
 *       that has an older word of it finds another incarnation.
 *   <li>An operation begins with its first access and ends with its last; if it began earlier or ended later, more
 *       would be right. The WRITE of a set's block comes before all READs of its bucket.
 *   <li>The phases of a sweep. That a client's pointers are of several sessions.
 *   <li>Expiry, values in pieces, conditions on versions, failed queue pairs and what resolves them.
 *   <li>The leased engine: {@code LeaseModelTest} has its leases. {@code ShardScenario} and {@code EditionScenario},
 *       beside that engine's server, run the product's own code: a shard and its clients; and the servers of a map,
 *       which of them has which keys, and processes that change that. No answer depends on reports, so no model has
 *       them.
 * </ul>
 */
package io.farheap.kv.model;
