/**
 * The memory servers that a manager knows: what they reported, what they have to give, and which servers join, leave
 * and are gone. Begin with {@link io.farheap.manager.service.servers.Servers}, then
 * {@link io.farheap.manager.service.servers.ServerMembership}.
 */
@NullMarked
package io.farheap.manager.service.servers;

import org.jspecify.annotations.NullMarked;
