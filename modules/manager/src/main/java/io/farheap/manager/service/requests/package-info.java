/**
 * The requests of clients: room for a new cache, another capacity or objective, the report of a move, and the end of a
 * cache; if there is no room, the wait for it. It stands on supply, moves and caches; begin with
 * {@link io.farheap.manager.service.requests.RoomFinder}, then {@link io.farheap.manager.service.requests.Admission}
 * and {@link io.farheap.manager.service.requests.Reallocations}.
 */
@NullMarked
package io.farheap.manager.service.requests;

import org.jspecify.annotations.NullMarked;
