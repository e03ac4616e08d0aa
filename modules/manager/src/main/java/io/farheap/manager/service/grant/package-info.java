/**
 * Signs what a manager grants, with a clock that never goes back. Begin with
 * {@link io.farheap.manager.service.grant.GrantSigner}.
 */
@NullMarked
package io.farheap.manager.service.grant;

import org.jspecify.annotations.NullMarked;
