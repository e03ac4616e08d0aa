/** What softverbs offers beside verbs: settings that change while it runs, and what its model has timed. */
@NullMarked
package io.farheap.verbs.soft;

import org.jspecify.annotations.NullMarked;
