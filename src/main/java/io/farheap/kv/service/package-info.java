/**
 * The services of a map on its servers, called over message rings: they hand out segments and free blocks, collect what
 * dead clients leave, keep the map's clock, and keep the weights that its sessions have learned. All state belongs to
 * one space, is in the server's memory alone, and ends with the space.
 */
@NullMarked
package io.farheap.kv.service;

import org.jspecify.annotations.NullMarked;
