/**
 * The lock under which everything is that a manager knows, the journal that writes changes before they are said, and
 * reports that wait for the lock. Begin with {@link io.farheap.manager.service.journal.ManagerLock}.
 */
@NullMarked
package io.farheap.manager.service.journal;

import org.jspecify.annotations.NullMarked;
