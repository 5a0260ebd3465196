import * as z from 'zod';

// To write and compile a function for each schema pays for thousands of values; here each schema reads one.
z.config({ jitless: true });
