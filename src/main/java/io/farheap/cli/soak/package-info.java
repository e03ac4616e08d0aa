/**
 * The soak: random requests from sessions of all kinds while regions move, servers die and the software device fails as devices do, with
 * every byte checked against a model. It uses the library as an application does.
 */
package io.farheap.cli.soak;
