package io.farheap.kv.leased.server;

/** The rules by which servers and processes agree on which server has a key. Each can be left out of the model. */
enum EditionRule {
    /** A process that holds leases on fewer than half of the servers begins no request. */
    HALF_ARE_HELD,
    /** A process uses no server of which it has said that it has lost it. */
    LOST_SERVERS_ARE_NOT_USED,
    /** Servers are replaced if more than half of those that the map was made on answer. */
    MORE_THAN_HALF_ANSWER,
    /** A shard drops the objects of a range that goes elsewhere, and marks their blocks. */
    WHAT_GOES_IS_DROPPED,
    /** No server has one range more before all have lost those that go elsewhere. */
    LOST_BEFORE_HAD,
    /** A process uses an edition when it is registered in it with all of its servers. */
    PROCESSES_ARE_REGISTERED,
    /** A seal names the edition that its server has said. */
    SEALS_NAME_THE_EDITION
}
