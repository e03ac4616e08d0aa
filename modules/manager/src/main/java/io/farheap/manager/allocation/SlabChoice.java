package io.farheap.manager.allocation;

/**
 * The server of one slab of a coded range.
 *
 * @param outside whether the server is in another group, or in another part of the group, than most of the range's
 *     slabs, or in none. Each such slab adds sets of servers whose common failure loses data
 */
public record SlabChoice(GroupServer server, boolean outside) {}
