/** Functions of softverbs beyond verbs: settings that can change while it runs, and the times of its NIC model. */
@NullMarked
package io.farheap.verbs.soft;

import org.jspecify.annotations.NullMarked;
