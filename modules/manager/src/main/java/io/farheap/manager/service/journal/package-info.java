/**
 * The lock that guards everything that a manager knows, the journal that writes changes to disk before any client can
 * see them, and reports that wait for the lock. Begin with {@link io.farheap.manager.service.journal.ManagerLock}.
 */
@NullMarked
package io.farheap.manager.service.journal;

import org.jspecify.annotations.NullMarked;
