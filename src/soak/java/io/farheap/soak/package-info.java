/**
 * The soak: random requests from sessions of all kinds while regions move, servers and client processes are stopped and
 * killed, and the software device fails as devices do, with every byte checked against a model, and how long others
 * wait. It uses the library as an application does.
 */
@NullMarked
package io.farheap.soak;

import org.jspecify.annotations.NullMarked;
