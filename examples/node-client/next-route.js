// app/api/webhooks/route.js of a Next.js application; the same with any framework that has the fetch Request.
import { verifyRequest, WebhookVerificationError } from '@millrace/node';

export async function POST(request) {
  try {
    const event = await verifyRequest(request, process.env.MILLRACE_SHARED_SECRET);
    if (event.type === 'track') console.log(event.event);
    if (event.type === 'delete') console.log(`forget ${event.userId}`);
    return Response.json({ success: true });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return Response.json({ success: false, code: error.code }, { status: 401 });
  }
}
