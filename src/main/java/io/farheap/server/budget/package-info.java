/**
 * The limits on the resources that a server lends: in total, to one host, to one client, under one lease. Begin with
 * {@link io.farheap.server.budget.Budget}.
 */
@NullMarked
package io.farheap.server.budget;

import org.jspecify.annotations.NullMarked;
